import { expect, it } from "vitest";
import { learnOwnMemories, OWN_MEMORIES } from "../src/learning/own-memories.js";

it("learns an order of own memories that is better than the one by words", async () => {
  const { host, learned } = await learnOwnMemories(1, { ...OWN_MEMORIES, runs: 800 });
  expect(learned).toBeGreaterThan(host + 0.03);
});
