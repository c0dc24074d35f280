import { describe, expect, it } from "vitest";
import { bench, remember, scriptedAgent, USER } from "./support/bench.js";
import { promptText, type Script } from "./support/scripted-model.js";

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
    const { memory } = bench();
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
