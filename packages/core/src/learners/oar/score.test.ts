import { expect, it } from "vitest";
import { oar } from "./oar.js";
import { memoryCodec, type OarShared, sharedCodec } from "./state.js";

it("a ranking keeps its scores and its advantage while other requests are scored", () => {
  const learner = oar();
  const table = learner.createTable();
  const state = { evidence: 5, reputation: 0.1, information: 1, lastRun: 1, at: 0 };
  table.put(memoryCodec.encode({ ...state, vector: Float32Array.of(-2, 0) }, 0));
  table.put(memoryCodec.encode({ ...state, vector: Float32Array.of(2, 0) }, 0));
  const shared: OarShared = {
    ...sharedCodec.empty(),
    lessons: 300,
    mean: Float32Array.of(0.1, 0.1),
    baseline: Float32Array.of(1, -1),
  };
  const score = (...vector: number[]) =>
    learner.score({
      shared,
      table,
      rows: Int32Array.of(0, 1, -1),
      similarities: Float64Array.of(0.9, 0.8, 0.5),
      vector: Float32Array.from(vector),
      context: "default",
      topK: 1,
      explores: true,
      now: 0,
    });
  const first = score(1, 0);
  const [copy, advantage] = [structuredClone({ ...first, advantage: 0 }), first.advantage?.()];
  expect(advantage).toBeGreaterThan(0);
  const second = score(0, 1);
  expect(second.score).not.toEqual(first.score);
  expect({ ...first, advantage: 0 }).toEqual(copy);
  expect(first.advantage?.()).toBe(advantage);
});
