// A scorer's judgement becomes what the memory learns from: two notes are equally plausible, and only the scorer knows which helped.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { createScorer } from "@mastra/core/evals";
import { Mastra } from "@mastra/core/mastra";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { hashedEmbedder, scriptedModel } from "@qavr/bench/mastra";
import { QavrMemory } from "@qavr/mastra";

const NOTES = [
  "greet the customers from Vienna: Sehr geehrte Frau",
  "customers from Vienna, how to greet them: Servus",
];

// A stand-in for a model: it greets as it remembers.
const model = scriptedModel((prompt) => {
  if (NOTES.some((note) => prompt.endsWith(note))) return { text: "Noted." };
  return { text: /Sehr geehrte Frau|Servus/.exec(prompt)?.[0] ?? "Hello" };
});

// This shop's customers like it warm, on a scale from 0 to 10.
const warmth = createScorer({
  id: "warmth",
  description: "How warm the greeting is, 0 to 10.",
  type: "agent",
}).generateScore(({ run }) => (JSON.stringify(run.output).includes("Servus") ? 9 : 2));

const folder = await mkdtemp(join(tmpdir(), "qavr-scorer-rewards-"));
const storage = new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` });
const memory = new QavrMemory({
  storage,
  vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
  embedder: hashedEmbedder(),
  options: { semanticRecall: { topK: 1, messageRange: 0 } },
  qavr: { store: join(folder, "ledger.db"), semanticRecall: { echoes: "drop" } },
});
const teller = new Agent({ id: "teller", name: "teller", instructions: "Take notes.", model, memory });
const greeter = new Agent({
  id: "greeter",
  name: "greeter",
  instructions: "Greet customers.",
  model,
  memory,
  scorers: {
    warmth: { scorer: memory.rewardFrom(warmth, (score) => score / 10), sampling: { type: "ratio", rate: 1 } },
  },
});
new Mastra({ agents: { teller, greeter }, storage, logger: false }); // scorers run for registered agents only

for (const [place, note] of NOTES.entries()) {
  await teller.generate(note, { memory: { thread: `note-${place}`, resource: "shop" } });
}
for (let visit = 1; visit <= 4; visit++) {
  const on = { thread: `visit-${visit}`, resource: "shop" };
  const { text } = await greeter.generate("greet the customers from Vienna", { memory: on });
  console.log(`${visit}. ${text.padEnd(18)} reward ${await rewardOf(on.thread)}`);
}
await memory.close();
await rm(folder, { recursive: true, force: true });

/** The scorer runs after the run: waits for its word. */
async function rewardOf(threadId: string): Promise<number | null> {
  for (;;) {
    const outcome = (await memory.explain({ threadId }))?.outcome;
    if (outcome?.tier === "verified") return outcome.reward;
    await new Promise((done) => setTimeout(done, 20));
  }
}
