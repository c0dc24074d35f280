import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RELEVANCE_FLOOR, RELEVANCE_POWER, relevanceWeights } from "./relevance.js";

const similarity = fc.double({ min: 0, max: 1, noNaN: true });
const shownLists = fc.array(similarity, { minLength: 1, maxLength: 10 });
const otherLists = fc.array(similarity, { maxLength: 20 });

describe("relevanceWeights", () => {
  it("follows its formula", () => {
    // Level 0.2, top 1: the second lies halfway, the third below the level.
    const weights = relevanceWeights([1, 0.6, 0.1], [0.3, 0.1]);
    expect(weights[0]).toBe(1);
    expect(weights[1]).toBeCloseTo(0.5 ** 0.7, 12);
    expect(weights[2]).toBeCloseTo(0.2 ** 0.7, 12);
  });

  it("lies in (0, 1], is 1 at the top and falls with similarity", () => {
    fc.assert(
      fc.property(shownLists, otherLists, (list, others) => {
        const shown = list.toSorted((a, b) => b - a);
        const weights = relevanceWeights(shown, others);
        expect(weights[0]).toBe(1);
        for (let i = 0; i < weights.length; i++) {
          expect(weights[i]).toBeGreaterThanOrEqual(RELEVANCE_FLOOR ** RELEVANCE_POWER);
          if (i > 0) expect(weights[i]).toBeLessThanOrEqual(weights[i - 1] as number);
        }
      }),
    );
  });

  it("stays the same when a store shifts or stretches its similarities", () => {
    fc.assert(
      fc.property(
        shownLists,
        otherLists,
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.double({ min: -50, max: 50, noNaN: true }),
        (shown, others, a, b) => {
          const level = others.reduce((sum, value) => sum + value, 0) / others.length;
          // A difference of top and level by rounding alone does not count.
          fc.pre(others.length === 0 || Math.abs(Math.max(...shown) - level) > 1e-3);
          const moved = (value: number): number => a * value + b;
          const original = relevanceWeights(shown, others);
          relevanceWeights(shown.map(moved), others.map(moved)).forEach((weight, i) => {
            expect(weight).toBeCloseTo(original[i] as number, 6);
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  it("reads a distance d as 1 − d or as −d alike", () => {
    const as = (read: (distance: number) => number): number[] =>
      relevanceWeights([0.1, 0.3].map(read), [0.35, 0.6].map(read));
    as((d) => 1 - d).forEach((weight, i) => {
      expect(weight).toBeCloseTo(as((d) => -d)[i] as number, 12);
    });
  });

  it("treats all alike when everything found was shown, or nothing shown stands above the level", () => {
    expect(relevanceWeights([0.9, 0.2], [])).toEqual([1, 1]);
    expect(relevanceWeights([0.1, 0.2], [0.9, 0.9])).toEqual([1, 1]);
    expect(relevanceWeights([0.1, 0.1, 0.1], [0.1])).toEqual([1, 1, 1]);
  });

  it("copes with very long lists", () => {
    const many = Array.from({ length: 200_000 }, (_, i) => -i);
    expect(relevanceWeights(many, [-200_000])[0]).toBe(1);
  });
});
