import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { type SampleSums, studentQuantile, welchInterval } from "./welch.js";

const sumsOf = (values: readonly number[]): SampleSums => ({
  n: values.length,
  sum: values.reduce((sum, value) => sum + value, 0),
  squares: values.reduce((sum, value) => sum + value * value, 0),
});

describe("studentQuantile", () => {
  it.each([
    [3, 3.1824, 0.03],
    [5, 2.5706, 0.003],
    [10, 2.2281, 0.0002],
    [30, 2.0423, 0.0001],
    [120, 1.9799, 0.0001],
    [1e9, 1.96, 0.0001],
  ])("at %d degrees of freedom is that of the printed table, %d", (freedom, table, tolerance) => {
    expect(Math.abs(studentQuantile(freedom) - table)).toBeLessThan(tolerance);
  });
});

describe("welchInterval", () => {
  it("follows its formula", () => {
    // Each sample with a 0 and a 1 more: [1, 1, 0, 1 | 0, 1] and [0, 1, 0, 0, 0 | 0, 1].
    const a = { mean: 3 / 4, variance: ((4 / 6) * (2 / 6) * 6) / 5, n: 4 };
    const b = { mean: 1 / 5, variance: ((2 / 7) * (5 / 7) * 7) / 6, n: 5 };
    const [ca, cb] = [a.variance / a.n, b.variance / b.n];
    const half = studentQuantile((ca + cb) ** 2 / (ca ** 2 / 3 + cb ** 2 / 4)) * Math.sqrt(ca + cb);
    const found = welchInterval([{ a: sumsOf([1, 1, 0, 1]), b: sumsOf([0, 1, 0, 0, 0]) }]);
    expect(found.difference).toBeCloseTo(0.55, 12);
    expect([found.a, found.b]).toEqual([a.mean, b.mean]);
    expect(found.low).toBeCloseTo(0.55 - half, 12);
    expect(found.high).toBeCloseTo(0.55 + half, 12);
  });

  it("never claims certainty, also where all values are equal", () => {
    const { difference, low, high } = welchInterval([{ a: sumsOf(Array(30).fill(1)), b: sumsOf(Array(30).fill(1)) }]);
    expect(difference).toBe(0);
    expect(low).toBeLessThan(-0.02);
    expect(high).toBeGreaterThan(0.02);
  });

  it("compares only within strata: a better time with more of one arm is no difference", () => {
    const times = (n: number, mean: number): SampleSums => ({ n, sum: n * mean, squares: n * mean });
    const strata = [
      { a: times(900, 0.2), b: times(100, 0.2) },
      { a: times(500, 0.8), b: times(500, 0.8) },
    ];
    expect(welchInterval(strata).difference).toBeCloseTo(0, 12);
    const pooled = welchInterval([{ a: times(1_400, 580 / 1_400), b: times(600, 420 / 600) }]);
    expect(pooled.high).toBeLessThan(-0.2);
  });

  it("holds the true difference in about 95 of 100 samples", () => {
    const random = seededRandom(11);
    let held = 0;
    const rounds = 2_000;
    for (let round = 0; round < rounds; round++) {
      const draw = (n: number, p: number): SampleSums =>
        sumsOf(Array.from({ length: n }, () => Number(random.next() < p)));
      const { low, high } = welchInterval([{ a: draw(400, 0.7), b: draw(45, 0.6) }]);
      if (low <= 0.1 && 0.1 <= high) held += 1;
    }
    expect(held / rounds).toBeGreaterThan(0.94);
    expect(held / rounds).toBeLessThan(0.97);
  });
});
