// A support agent that remembers earlier tickets. The advice that resembles a ticket most is outdated; watch it being left.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@mastra/core/agent";
import { noopLogger } from "@mastra/core/logger";
import { LibSQLStore, LibSQLVector } from "@mastra/libsql";
import { hashedEmbedder, scriptedModel } from "@qavr/bench/mastra";
import { QavrMemory } from "@qavr/mastra";

const ADVICE = [
  "when the export stops with a timeout, raise the gateway limit",
  "when the export stops with a timeout, the new way is to split it by month",
  "when the login loops after the password, reset the password again",
  "when the login loops after the password, the new way is to clear the session cookie",
];
const TICKETS = [
  "the export stops with a timeout, a customer in Lyon says",
  "the login loops after the password, please help",
  "the export stops with a timeout, again, since Monday",
  "the login loops after the password for a new tenant",
  "the export stops with a timeout at the head office",
];

// A stand-in for a model: it follows the advice that it remembers, and outdated advice does not help.
const model = scriptedModel((prompt) => {
  const remembered = prompt.slice(0, prompt.lastIndexOf("user:"));
  if (ADVICE.some((advice) => prompt.endsWith(advice))) return { text: "Noted." };
  if (/raise the gateway|reset the password again/.test(remembered))
    return { error: new Error("the customer is still stuck") };
  const fix = /split it by month|clear the session cookie/.exec(remembered);
  return fix ? { text: `Solved: ${fix[0]}.` } : { error: new Error("nobody knows") };
});

const folder = await mkdtemp(join(tmpdir(), "qavr-support-agent-"));
const memory = new QavrMemory({
  storage: new LibSQLStore({ id: "storage", url: `file:${join(folder, "storage.db")}` }),
  vector: new LibSQLVector({ id: "vectors", url: `file:${join(folder, "vectors.db")}` }),
  embedder: hashedEmbedder(),
  options: { semanticRecall: { topK: 1, messageRange: 1 } },
  qavr: { store: join(folder, "ledger.db") },
});
const agent = new Agent({
  id: "support",
  name: "support",
  instructions: "Solve tickets.",
  model,
  memory,
  maxRetries: 0,
});
agent.__setLogger(noopLogger as never);

for (const [place, advice] of ADVICE.entries()) {
  await agent.generate(advice, { memory: { thread: `advice-${place}`, resource: "desk" } });
}
for (const [place, ticket] of TICKETS.entries()) {
  const on = { thread: `ticket-${place}`, resource: "desk" };
  const answer = await agent.generate(ticket, { memory: on }).then(
    ({ text }) => text,
    (error: Error) => `Failed: ${error.message}.`,
  );
  const item = (await memory.explain({ threadId: on.thread }))?.exposures[0]?.items[0];
  console.log(`${place + 1}. ${answer.padEnd(38)} rank without learning: ${item?.hostRank}`);
}
const { outcomes, taught } = await memory.status();
console.log(`${outcomes.observed} failures, ${outcomes.completed} ends; ${taught} runs taught it`);
await memory.close();
await rm(folder, { recursive: true, force: true });
