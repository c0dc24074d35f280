import { expect, it } from "vitest";
import { onOneScale } from "./reward-scale.js";
import { sharedCodec } from "./state.js";

/** A collection whose rewards were these. */
const after = (rewards: readonly number[]) => ({
  ...sharedCodec.empty(),
  outcomes: rewards.length,
  rewards: rewards.reduce((sum, reward) => sum + reward, 0),
  between: rewards.reduce((sum, reward) => sum + reward * (1 - reward), 0),
});

it("leaves every reward as it is, to the bit, where all were 0 or 1", () => {
  const bits = Array.from({ length: 70 }, (_, i) => (i % 7 < 5 ? 1 : 0));
  for (const reward of [0, 0.1, 0.5, 0.7, 1]) expect(onOneScale(reward, after(bits))).toBe(reward);
  expect(onOneScale(0.7, sharedCodec.empty())).toBe(0.7);
});

it("moves scores between 0.6 and 0.8 apart, around their mean, and never beyond 0 and 1", () => {
  const scores = after(Array.from({ length: 1_000 }, (_, i) => 0.6 + 0.05 * (i % 5)));
  // Mean 0.7, variance 0.005 and 0.00058 by the success and the failure before them; of bits with this mean: 0.21.
  const stretch = Math.sqrt(0.21 / 0.00558);
  expect(onOneScale(0.7, scores)).toBeCloseTo(0.7, 2);
  expect(onOneScale(0.65, scores)).toBeCloseTo(0.7 - 0.05 * stretch, 2);
  expect(onOneScale(0.6, scores)).toBeCloseTo(0.7 - 0.1 * stretch, 2);
  expect(onOneScale(0.8, scores)).toBe(1);
});

it("takes no small difference for a large one after few runs, or where all scores are equal", () => {
  expect(onOneScale(0.71, after([0.7, 0.7]))).toBeCloseTo(0.71, 1);
  expect(onOneScale(0.7, after(new Array<number>(10_000).fill(0.7)))).toBeCloseTo(0.7, 2);
});
