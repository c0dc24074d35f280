import { describe, expect, it } from "vitest";
import { normal, seededRandom, shuffle, uniformAt } from "../src/random/seeded-random.js";

const draw = (seed: number, count: number): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, random);
};

describe("seededRandom", () => {
  it("repeats its sequence for one seed and differs for another", () => {
    expect(draw(1, 20)).toEqual(draw(1, 20));
    expect(draw(1, 20)).not.toEqual(draw(2, 20));
  });

  it("fills [0, 1) evenly", () => {
    const counts = new Array<number>(10).fill(0);
    for (const value of draw(3, 20_000)) (counts[Math.floor(value * 10)] as number) += 1;
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });
});

describe("uniformAt", () => {
  it("depends on the seed and on every coordinate, and on nothing drawn before", () => {
    const values = [uniformAt(1, 2, 3), uniformAt(2, 2, 3), uniformAt(1, 3, 3), uniformAt(1, 2, 4), uniformAt(1, 2)];
    expect(new Set(values).size).toBe(values.length);
    expect(uniformAt(1, 2, 3)).toBe(values[0]);
  });

  it("is even over neighbouring places", () => {
    const values = Array.from({ length: 20_000 }, (_, place) => uniformAt(1, 1, place));
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(average - 0.5)).toBeLessThan(0.01);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    // Neighbours are unrelated: the lag-one correlation of independent numbers is about 0 ± 1/√n.
    const products = values.slice(1).map((value, i) => (value - 0.5) * ((values[i] as number) - 0.5));
    expect(Math.abs(products.reduce((sum, value) => sum + value, 0) / products.length / (1 / 12))).toBeLessThan(0.03);
  });
});

describe("normal", () => {
  it("has mean 0 and deviation 1", () => {
    const random = seededRandom(5);
    const values = Array.from({ length: 20_000 }, () => normal(random));
    const average = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / values.length;
    expect(Math.abs(average)).toBeLessThan(0.03);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
  });
});

describe("shuffle", () => {
  it("permutes, the same way for the same seed", () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const shuffled = shuffle([...items], seededRandom(9));
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
    expect(shuffle([...items], seededRandom(9))).toEqual(shuffled);
  });
});
