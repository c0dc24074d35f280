// A deep agent whose skills are listed in the order of what worked: it begins with those that read like the request.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { memoryStore } from "@qavr/core";
import { qavr } from "@qavr/langchain";
import { rankedSkills } from "@qavr/langchain/agents";
import { createDeepAgent, FilesystemBackend } from "deepagents";
import { chatModel } from "./shared/chat-model.js";
import { commandIn, INCIDENTS, NOTES, solves } from "./shared/runbook.js";
import { printTable } from "./shared/table.js";

const ROUNDS = 8;

// In an application: the folder of skills that the agent has.
const rootDir = await mkdtemp(join(tmpdir(), "qavr-example-"));
for (const [name, description] of Object.entries(NOTES)) {
  await mkdir(join(rootDir, "skills", name), { recursive: true });
  const text = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\nRun ${commandIn(description)}.\n`;
  await writeFile(join(rootDir, "skills", name, "SKILL.md"), text);
}

const memory = qavr({
  store: memoryStore(),
  evaluate: ({ input, output }) => solves(JSON.stringify(input), answerOf(output as Answered)),
});
const agent = memory.track(
  createDeepAgent({
    model: await chatModel(reply),
    backend: new FilesystemBackend({ rootDir, virtualMode: true }),
    skills: ["/skills/"],
    middleware: [rankedSkills({ memory, maxCharacters: 400 })], // room for four of six
    systemPrompt: "Read the first skill that fits, then answer with the one command that solves the incident.",
  }),
);

/** A run for each incident: its answer, and the skills that were listed to it, best first. */
async function round(): Promise<{ answer: string; listed: string[] }[]> {
  const runs = [];
  for (const { question } of INCIDENTS) {
    const runId = crypto.randomUUID();
    const answer = answerOf(await agent.invoke({ messages: [{ role: "user", content: question }] }, { runId }));
    const episode = await memory.explain(runId);
    runs.push({ answer, listed: episode?.exposures[0]?.items.map(({ id }) => id) ?? [] });
  }
  return runs;
}

const before = await round();
let after = before;
for (let i = 1; i < ROUNDS; i++) after = await round();

const rows = INCIDENTS.map(({ question }, i) => ({ question, before: before[i]!.answer, after: after[i]!.answer }));
printTable(rows, solves);
for (const [i, { question }] of INCIDENTS.entries()) {
  console.log(`\n${question}`);
  console.log(`  before: ${before[i]?.listed.join(", ")}`);
  console.log(`  after:  ${after[i]?.listed.join(", ")}`);
}
await memory.close();
await rm(rootDir, { recursive: true, force: true });

/** Answer of a run of the agent. */
interface Answered {
  readonly messages: readonly BaseMessage[];
}

function answerOf({ messages }: Answered): string {
  return commandIn(messages.at(-1)?.text ?? "");
}

/** Offline: reads the skill that is listed first, then does what it says. */
function reply(messages: readonly BaseMessage[]): AIMessage {
  const last = messages.at(-1);
  if (last?.type === "tool") return new AIMessage(commandIn(last.text.split("---").at(-1) ?? ""));
  const prompt = messages[0]?.text ?? "";
  const args = { file_path: `/skills/${/^- \*\*([a-z]+)\*\*/m.exec(prompt)?.[1]}/SKILL.md` };
  return new AIMessage({ content: "", tool_calls: [{ name: "read_file", args, id: crypto.randomUUID() }] });
}
