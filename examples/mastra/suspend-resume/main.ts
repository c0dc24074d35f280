// One run, two processes: the first is suspended until a person approves and is then killed, the second resumes it.
// The end of the second credits the memories that the first was shown.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { hashedEmbedder, scriptedModel } from "@qavr/bench/mastra";
import { QavrMemory } from "@qavr/mastra";

const [phase = "both", folder = "", runId = ""] = process.argv.slice(2);
if (phase === "start") await start();
else if (phase === "resume") await resume();
else await both();

async function both(): Promise<void> {
  const shared = await mkdtemp(join(tmpdir(), "qavr-suspend-resume-"));
  const run = (...args: string[]): string => {
    const [script = ""] = process.argv.slice(1);
    return spawnSync(process.execPath, [script, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
      .stdout;
  };
  const started = run("start", shared);
  console.log(started.split("\n").slice(1).join("\n").trim());
  console.log(run("resume", shared, started.split("\n")[0] as string).trim());
  await rm(shared, { recursive: true, force: true });
}

async function start(): Promise<void> {
  const { agent, memory } = application();
  await agent.generate("rollouts are done with helm upgrade", { memory: { thread: "note", resource: "ops" } });
  const stream = await agent.stream("do a rollout of the service", { memory: { thread: "task", resource: "ops" } });
  await stream.consumeStream();
  const episode = await memory.explain({ runId: stream.runId });
  const lines = `${stream.runId}\nprocess 1: waiting for approval, its episode is ${episode?.state}\n`;
  process.stdout.write(lines, () => process.kill(process.pid, "SIGKILL"));
}

async function resume(): Promise<void> {
  const { agent, memory } = application();
  const stream = await agent.approveToolCall({ runId });
  await stream.consumeStream();
  const episode = await memory.explain({ runId });
  const shown = episode?.exposures.flatMap(({ items }) => items).length;
  console.log(`process 2: ${await stream.text}`);
  console.log(
    `process 2: its episode is ${episode?.state}, reward ${episode?.outcome?.reward} for ${shown} memory shown by process 1`,
  );
  await memory.close();
}

function application(): { agent: Agent; memory: QavrMemory } {
  const storage = new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` });
  const memory = new QavrMemory({
    storage,
    vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
    embedder: hashedEmbedder(),
    options: { semanticRecall: { topK: 1, messageRange: 0 } },
    qavr: { store: join(folder, "ledger.db") }, // both processes must find it
  });
  const rollout = createTool({
    id: "rollout",
    description: "Rolls the service out.",
    inputSchema: { type: "object", properties: {} } as never,
    requireApproval: true,
    execute: async () => ({ done: true }),
  });
  // A stand-in for a model: calls the tool when it is asked to.
  const model = scriptedModel((prompt, lastRole) =>
    lastRole === "user" && prompt.endsWith("do a rollout of the service")
      ? { tool: "rollout" }
      : { text: "rolled out with helm" },
  );
  const agent = new Agent({
    id: "operator",
    name: "operator",
    instructions: "Operate.",
    model,
    memory,
    tools: { rollout },
  });
  new Mastra({ agents: { agent }, storage, logger: false });
  return { agent, memory };
}
