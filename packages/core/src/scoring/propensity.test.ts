import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { effectiveSampleSize, weighedDifference, weighedMean } from "./propensity.js";

describe("effectiveSampleSize", () => {
  it("is the count for equal weights, less for unequal ones, and 0 for none", () => {
    expect(effectiveSampleSize([3, 3, 3, 3])).toBe(4);
    expect(effectiveSampleSize([9, 1])).toBeCloseTo(100 / 82, 12);
    expect(effectiveSampleSize([5, 0, 0])).toBe(1);
    expect(effectiveSampleSize([0, 0])).toBe(0);
  });
});

describe("weighedMean", () => {
  it("follows its formula", () => {
    expect(
      weighedMean([
        { reward: 1, weight: 3 },
        { reward: 0.5, weight: 2 },
        { reward: 0, weight: 0 },
      ]),
    ).toBe(4 / 5);
  });
});

describe("weighedDifference", () => {
  it("is nothing, without doubt, between a policy and itself", () => {
    const observations = [1, 0, 0.5].map((reward) => ({ reward, a: 2, b: 2 }));
    expect(weighedDifference(observations)).toEqual({ difference: 0, low: 0, high: 0 });
  });

  it("holds the true difference in about 95 of 100 logs drawn with chance 0.2 and 0.8", () => {
    const random = seededRandom(5);
    let held = 0;
    const rounds = 1_000;
    for (let round = 0; round < rounds; round++) {
      const observations = Array.from({ length: 600 }, () => {
        const drawn = random.next() < 0.2;
        const reward = Number(random.next() < (drawn ? 0.7 : 0.5));
        return { reward, a: drawn ? 5 : 0, b: drawn ? 0 : 1.25 };
      });
      const { low, high } = weighedDifference(observations);
      if (low <= 0.2 && 0.2 <= high) held += 1;
    }
    expect(held / rounds).toBeGreaterThan(0.93);
    expect(held / rounds).toBeLessThan(0.97);
  });
});
