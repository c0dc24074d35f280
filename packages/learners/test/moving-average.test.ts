import { leftOf } from "@qavr/core/learner";
import { describe, expect, it } from "vitest";
import { movedTowards, movingAverages } from "../src/moving-average.js";

describe("a moving average", () => {
  const averages = movingAverages(0.1, -1, 1);
  const start = () => ({ value: 0.1, evidence: 0, updates: 0 });

  it("moves a share of the way, times the weight, and stays within its bounds", () => {
    const average = start();
    averages.move(average, 1, 0.5, 0.5);
    expect(average).toMatchObject({ value: movedTowards(0.1, 1, 0.25), evidence: 0.5, updates: 1 });
    averages.move(average, 3, 1, 1);
    expect(average.value).toBe(1);
  });

  it("is exactly where it started when all was taken back, whatever the order", () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ]) {
      const average = start();
      const added = [0.9, -0.7, 0.3].map((target) => averages.move(average, target, 0.3, 0.7));
      for (const i of order) averages.takeBack(average, added[i] as readonly number[]);
      expect(average).toEqual(start());
    }
  });

  it("gives an update back as far as later ones of its rate have left of it", () => {
    const [both, alone] = [start(), start()];
    const first = averages.move(both, 1, 0.3, 1);
    averages.move(both, -0.5, 0.3, 1);
    averages.move(alone, -0.5, 0.3, 1);
    averages.takeBack(both, first);
    expect(both.value).toBeCloseTo(alone.value, 12);
    expect(leftOf(1, 0.3, 2)).toBeCloseTo(0.49, 12);
    expect(leftOf(1, 0.3, -1)).toBe(1);
  });

  it("keeps a share of the way from its start, and starts anew with nothing", () => {
    const average = start();
    averages.move(average, 1, 1, 1);
    averages.keep(average, 0.5);
    expect(average).toEqual({ value: 0.55, evidence: 0.5, updates: 1 });
    averages.keep(average, 0);
    expect(average).toEqual(start());
  });
});
