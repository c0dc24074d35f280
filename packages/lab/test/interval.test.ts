import { describe, expect, it } from "vitest";
import { interval, median, pairedInterval, studentQuantile } from "../src/statistics/interval.js";

describe("interval", () => {
  it("is the textbook t-interval", () => {
    // s = 1.581139, t(4) = 2.7764, so the margin is 2.7764 · 1.581139 / √5.
    const { mean, margin, n } = interval([1, 2, 3, 4, 5]);
    expect(mean).toBe(3);
    expect(margin).toBeCloseTo(1.9632, 3);
    expect(n).toBe(5);
  });

  it("has no margin for a single value", () => {
    expect(interval([0.4])).toEqual({ mean: 0.4, margin: 0, n: 1 });
  });
});

describe("pairedInterval", () => {
  it("forgets what both sides share", () => {
    const control = [0.1, 0.5, 0.9, 0.3];
    const { mean, margin } = pairedInterval(
      control.map((value) => value + 0.2),
      control,
    );
    expect(mean).toBeCloseTo(0.2, 12);
    expect(margin).toBeCloseTo(0, 12);
  });
});

describe("studentQuantile", () => {
  it.each([
    [1, 12.706],
    [7, 2.365],
    [10, 2.228],
    [11, 2.201],
    [19, 2.093],
    [30, 2.042],
    [120, 1.98],
  ])("for %i degrees of freedom is %f", (freedom, expected) => {
    expect(studentQuantile(freedom)).toBeCloseTo(expected, 3);
  });
});

describe("median", () => {
  it("is the middle, or the mean of the two in the middle", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 2, 9])).toBe(3);
  });
});
