// A workspace with more skills than its listing holds: the agent is listed those that helped in runs like this one.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { LocalFilesystem, Workspace } from "@mastra/core/workspace";
import { LibSQLStore } from "@mastra/libsql";
import { scriptedModel } from "@qavr/bench/mastra";
import { QavrMemory } from "@qavr/mastra";
import { rankedWorkspace } from "@qavr/mastra/agents";

const SKILLS = ["invoice-by-mail", "invoice-by-post", "invoice-by-portal", "invoice-by-phone"];
/** The customer takes invoices by the portal alone. No description says so. */
const RIGHT = "invoice-by-portal";

// A stand-in for a model: it loads the right skill if it is listed, else the first one.
const model = scriptedModel((prompt, lastRole) => {
  const listed = [...prompt.matchAll(/<name>([\w-]+)<\/name>/g)].map(([, name]) => name);
  const name = listed.includes(RIGHT) ? RIGHT : listed[0];
  return lastRole === "tool" ? { text: `sent as in ${name}` } : { tool: "skill", args: { name } };
});

const folder = await mkdtemp(join(tmpdir(), "qavr-ranked-skills-"));
for (const name of SKILLS) {
  await mkdir(join(folder, "skills", name), { recursive: true });
  const text = `---\nname: ${name}\ndescription: Sends an invoice to a customer.\n---\n\nSteps of ${name}.\n`;
  await writeFile(join(folder, "skills", name, "SKILL.md"), text);
}
const workspace = new Workspace({ filesystem: new LocalFilesystem({ basePath: folder }), skills: ["skills"] });
const memory = new QavrMemory({
  storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }),
  qavr: { store: join(folder, "ledger.db"), evaluate: ({ text }) => text.endsWith(RIGHT) },
});
const agent = new Agent({
  id: "clerk",
  name: "clerk",
  instructions: "Send invoices.",
  model,
  memory,
  workspace: rankedWorkspace({ memory, workspace, maxCharacters: 180 }), // room for two
});

for (let run = 1; run <= 6; run++) {
  const { text } = await agent.generate("send the invoice to the customer", {
    memory: { thread: `run-${run}`, resource: "office" },
  });
  console.log(`${run}. ${text}`);
}
await memory.close();
await rm(folder, { recursive: true, force: true });
