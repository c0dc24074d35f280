import { Memory } from "@mastra/memory";
import { memoryStore } from "@qavr/core";
import { QavrMemory, type SemanticRecallOptions } from "@qavr/mastra";
import { describe, expect, it } from "vitest";
import { bench, remember, scriptedAgent, USER } from "./support/bench.js";
import { promptText, type Script } from "./support/scripted-model.js";
import { libsql } from "./support/stores.js";
import { wordEmbedder } from "./support/word-embedder.js";

const WRONG = "service rollout with docker compose up, the old way";
const RIGHT = "service rollout by helm upgrade, the new way";

/** Does what it remembers, and fails at the wrong one. */
const operator: Script = (prompt) => {
  const remembered = promptText(prompt.filter(({ role }) => role === "system"));
  if (remembered.includes("docker compose")) return { error: new Error("the rollout failed") };
  return { text: remembered.includes("helm upgrade") ? "rolled out" : "I do not know" };
};

describe("an agent whose nearest memory misleads", () => {
  it("is shown another one within five runs, and stays with it", async () => {
    const { memory } = bench({ semanticRecall: { echoes: "drop" } });
    await remember(memory, WRONG);
    await remember(memory, RIGHT);
    const agent = scriptedAgent(memory, operator);
    const answers: string[] = [];
    for (let run = 0; run < 12; run++) {
      const answer = await agent
        .generate("service rollout with docker please", { memory: { thread: `task-${run}`, resource: USER } })
        .then(
          ({ text }) => text,
          () => "failed",
        );
      answers.push(answer);
    }
    expect(answers[0]).toBe("failed");
    expect(answers.slice(5)).toEqual(Array(7).fill("rolled out"));
  });
});

const TROUBLES = ["export", "invoice", "login"] as const;
const RUNS = 30;

/** Succeeds when it remembers the new way to do what it is asked about. */
const desk: Script = (prompt) => {
  const remembered = promptText(prompt.filter(({ role }) => role === "system"));
  const [thing] = /export|invoice|login/.exec(promptText(prompt.slice(-1))) ?? [];
  return remembered.includes(`new way for the ${thing}`) ? { text: "done" } : { error: new Error("it did not help") };
};

/** How many of the runs of an agent go well that has been told an old and a new way for each kind of trouble. */
async function successes(memory: Memory): Promise<number> {
  for (const thing of TROUBLES) {
    await remember(memory, `when the ${thing} does not work at all this is the old way`);
    await remember(memory, `when the ${thing} does not work, this is the new way for the ${thing}`);
  }
  const agent = scriptedAgent(memory, desk);
  let done = 0;
  for (let run = 0; run < RUNS; run++) {
    const thing = TROUBLES[run % TROUBLES.length];
    const on = { thread: `task-${run}`, resource: USER };
    done += await agent.generate(`the ${thing} does not work at all, case ${run}`, { memory: on }).then(
      () => 1,
      () => 0,
    );
  }
  return done;
}

describe("an agent with several kinds of trouble", () => {
  it("does better than with Mastra's own memory, where that misleads", async () => {
    const fields = () => ({
      ...libsql(),
      embedder: wordEmbedder(),
      options: { lastMessages: 2, semanticRecall: { topK: 1, messageRange: 0 } },
    });
    // Notes are memories here, cases are not.
    const rememberTurns: SemanticRecallOptions["rememberTurns"] = ({ threadId = "" }) => !threadId.startsWith("task");
    const qavr = { store: memoryStore(), semanticRecall: { rememberTurns } };
    const plain = await successes(new Memory(fields()));
    const learned = await successes(new QavrMemory({ ...fields(), qavr }));
    expect(learned).toBeGreaterThanOrEqual(plain + 12);
    expect(learned).toBeGreaterThanOrEqual(RUNS - 10);
  });
});
