import { describe, expect, it } from "vitest";
import { betaDraw, keyedUniforms } from "../src/beta.js";

/** Largest distance between the share of draws below x and the distribution function (Kolmogorov and Smirnov). */
function distance(draws: readonly number[], distribution: (x: number) => number): number {
  const sorted = draws.toSorted((a, b) => a - b);
  return sorted.reduce(
    (worst, x, i) =>
      Math.max(worst, Math.abs(distribution(x) - i / draws.length), Math.abs(distribution(x) - (i + 1) / draws.length)),
    0,
  );
}

/** The bound holds in 999 of 1,000 samples of that size from the true distribution. */
const critical = (size: number): number => 1.95 / Math.sqrt(size);

describe("betaDraw", () => {
  it.each([
    ["Beta(1, 1)", 1, 1, (x: number) => x],
    ["Beta(2, 3)", 2, 3, (x: number) => 6 * x ** 2 - 8 * x ** 3 + 3 * x ** 4],
    ["Beta(5, 1)", 5, 1, (x: number) => x ** 5],
    ["Beta(1/2, 1/2)", 0.5, 0.5, (x: number) => (2 / Math.PI) * Math.asin(Math.sqrt(x))],
    ["Beta(1/4, 1)", 0.25, 1, (x: number) => x ** 0.25],
  ])("draws from %s", (_, a, b, distribution) => {
    const draws = Array.from({ length: 20_000 }, (_unused, i) => betaDraw(a, b, keyedUniforms([i, 0.25])));
    expect(distance(draws, distribution)).toBeLessThan(critical(draws.length));
  });

  it.each([1e-300, 1e300])("stays a number where both parameters are %d", (parameter) => {
    for (let i = 0; i < 100; i++) {
      const draw = betaDraw(parameter, parameter, keyedUniforms([i]));
      expect(draw).toBeGreaterThanOrEqual(0);
      expect(draw).toBeLessThanOrEqual(1);
    }
  });
});

describe("keyedUniforms", () => {
  it("gives the same numbers for the same key and others for every other key", () => {
    const firsts = new Set<number>();
    for (let i = 0; i < 1_000; i++) {
      const [one, other] = [keyedUniforms([i, 0.1]), keyedUniforms([i, 0.1])];
      const numbers = [one(), one(), one()];
      expect([other(), other(), other()]).toEqual(numbers);
      expect(numbers.every((value) => value > 0 && value < 1)).toBe(true);
      firsts.add(numbers[0] as number);
    }
    expect(firsts.size).toBe(1_000);
  });

  it("tells keys apart that differ in one bit, in their order or in their length", () => {
    const first = (key: readonly number[]): number => keyedUniforms(key)();
    const keys = [[0.1], [0.1 + 2 ** -56], [0.1, 0], [0, 0.1], [-0], [0], []];
    expect(new Set(keys.map(first)).size).toBe(keys.length);
  });

  it("is uniform along its counter and across keys", () => {
    const along = keyedUniforms([7]);
    const size = 20_000;
    expect(distance(Array.from({ length: size }, along), (x) => x)).toBeLessThan(critical(size));
    expect(
      distance(
        Array.from({ length: size }, (_, i) => keyedUniforms([i])()),
        (x) => x,
      ),
    ).toBeLessThan(critical(size));
  });
});
