import { createEngine, memoryStore } from "@qavr/core";
import { expect, it } from "vitest";
import { sequential, testLearner } from "../../../core/test/support/learner-suite.js";
import { winRate } from "./win-rate.js";

testLearner("winRate", () => winRate(), sequential);

it("R13: after two wins and a loss of one memory, its rate is 2.5 / 4", async () => {
  const engine = createEngine({ store: memoryStore(), learner: winRate() });
  const candidates = [
    { id: "a", similarity: 0.9 },
    { id: "b", similarity: 0.8 },
  ];
  for (const reward of [1, 1, 0]) {
    const { episode } = await engine.rank({ candidates, topK: 1, keepOrder: true });
    await engine.end(episode, { reward, tier: "verified" });
  }
  const { items } = await engine.rank({ candidates, topK: 2 });
  expect(items.map(({ id, utility }) => [id, utility])).toEqual([
    ["a", 0.625],
    ["b", 0.5],
  ]);
});
