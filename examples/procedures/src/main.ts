import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProcedures } from "@qavr/markdown";

const root = mkdtempSync(join(tmpdir(), "qavr-procedures-"));
const file = join(root, "procedures/deploy.md");
mkdirSync(join(root, "procedures"));
writeFileSync(file, "---\ndescription: Deploy the shop\nowner: ops # keeps this comment\n---\n1. Deploy at once.\n");

const procedures = openProcedures(root);

/** A run of an agent: it loads the procedure and follows it. Deploys fail while another one holds the lock. */
async function run(): Promise<boolean> {
  const { text, episode } = await procedures.load("procedure:deploy");
  const success = text.includes("lock");
  const notes = success ? "Clean." : "Another deploy held the lock.";
  await procedures.report("procedure:deploy", { success, notes, episode });
  return success;
}

/** Stands for a language model, which reads the notes of the failures. */
const model = async (prompt: string): Promise<string> =>
  prompt.includes("held the lock") ? "<procedure>\n1. Wait for the lock.\n2. Deploy.\n</procedure>" : "I do not know.";

console.log(`runs: ${await run()}, ${await run()}`);
const [begun] = await procedures.review({ model });
console.log(`${begun?.action}: ${begun?.reason}`);

// Half of the runs get the revision. The review says when the evidence is enough.
let runs = 0;
let action: string | undefined;
while (action === undefined) {
  await run();
  runs += 1;
  [{ action } = { action: undefined }] = await procedures.review();
}
console.log(
  `${action} after ${runs <= 100 ? "at most 100" : "more than 100"} runs; copies in the archive: ${(await procedures.archived()).length}`,
);
console.log(readFileSync(file, "utf8"));
const after = await procedures.get("procedure:deploy");
console.log(`confidence: ${after?.confidence}; failures at this text: ${after?.failures}`);
await procedures.close();
rmSync(root, { recursive: true });
