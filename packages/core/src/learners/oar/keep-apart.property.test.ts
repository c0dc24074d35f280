import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestFirst } from "../../scoring/order.js";
import { keepApart } from "./keep-apart.js";
import { Sketches } from "./sketches.js";

const DIMS = 3;

const memories = fc.array(
  fc.record({
    vector: fc.oneof(
      fc.constant([]),
      { arbitrary: fc.constant([1, 0, 0]), weight: 8 },
      fc.array(fc.integer({ min: -4, max: 4 }), { minLength: DIMS, maxLength: DIMS }),
      fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 2, maxLength: 2 }),
    ),
    evidence: fc.integer({ min: 0, max: 40 }),
  }),
  { minLength: 1, maxLength: 12 },
);

/** A list of candidates; some share a memory, some have no state. */
const lists = memories.chain((known) =>
  fc.record({
    known: fc.constant(known),
    candidates: fc.array(
      fc.record({
        row: fc.oneof({ arbitrary: fc.integer({ min: 0, max: known.length - 1 }), weight: 8 }, fc.constant(-1)),
        score: fc.integer({ min: -20, max: 20 }),
        utility: fc.oneof({ arbitrary: fc.integer({ min: -3, max: 0 }), weight: 8 }, fc.constant(1)),
      }),
      { minLength: 1, maxLength: 25 },
    ),
    topK: fc.integer({ min: 1, max: 8 }),
    weight: fc.integer({ min: 1, max: 30 }),
  }),
);

describe("keepApart", () => {
  it("chooses among the best as if all were compared with all, and leaves nobody above the last that is chosen", () => {
    fc.assert(
      fc.property(lists, ({ known, candidates, topK, weight }) => {
        const sketches = new Sketches();
        known.forEach(({ vector }, row) => {
          sketches.set(row, Float32Array.from(vector));
        });
        const rowOf = (candidate: number): number => (candidates[candidate] as { row: number }).row;
        const overlapOf = (a: number, others: readonly number[]): number => {
          const row = rowOf(a);
          if ((candidates[a] as { utility: number }).utility > 0) return 0;
          const cosines = others.filter((b) => rowOf(b) !== row).map((b) => sketches.cosine(row, rowOf(b)));
          const most = Math.max(0, ...cosines);
          return (most * most) / (1 + (known[row]?.evidence ?? 0) / 10);
        };
        const scores = Float64Array.from(candidates, ({ score }) => score);

        const contenders = bestFirst(scores, topK + 5);
        const expected: { readonly candidate: number; readonly score: number }[] = [];
        while (expected.length < Math.min(topK, candidates.length)) {
          const left = candidates.flatMap(({ score }, candidate) =>
            !contenders.includes(candidate) || expected.some((one) => one.candidate === candidate)
              ? []
              : {
                  candidate,
                  score:
                    score -
                    weight *
                      overlapOf(
                        candidate,
                        expected.map((one) => one.candidate),
                      ),
                },
          );
          expected.push(left.reduce((best, one) => (one.score > best.score ? one : best)));
        }

        const overlaps = new Float64Array(scores.length);
        keepApart(scores, {
          topK,
          rows: Int32Array.from(candidates, ({ row }) => row),
          sketches,
          utilities: Float64Array.from(candidates, ({ utility }) => utility),
          evidence: Float64Array.from(candidates, (_, candidate) => known[rowOf(candidate)]?.evidence ?? 0),
          weight,
          overlaps,
        });
        const order = bestFirst(scores, topK);
        expect(order.map((candidate) => ({ candidate, score: scores[candidate] }))).toEqual(expected);
        const last = Math.min(...order.map((candidate) => scores[candidate] as number));
        scores.forEach((score, candidate) => {
          if (!order.includes(candidate)) expect(score).toBeLessThanOrEqual(last);
          expect(overlaps[candidate]).toBe(score - (candidates[candidate] as { score: number }).score);
        });
      }),
    );
  });

  it("lets topK + 5 compete, and the rest fall below them as one", () => {
    const sketches = new Sketches();
    const scores = Float64Array.from({ length: 12 }, (_, candidate) => 12 - candidate);
    scores.forEach((_, row) => {
      sketches.set(row, Float32Array.of(1, 0, 0));
    });
    keepApart(scores, {
      topK: 3,
      rows: Int32Array.from(scores, (_, candidate) => candidate),
      sketches,
      utilities: new Float64Array(12),
      // The eighth has too much evidence to be discounted.
      evidence: Float64Array.from(scores, (_, candidate) => (candidate === 7 ? 1e9 : 0)),
      weight: 10,
      overlaps: new Float64Array(12),
    });
    expect(bestFirst(scores, 12).slice(0, 3)).toEqual([0, 7, 1]);
    const rest = [...scores.subarray(8)];
    expect(Math.max(...rest)).toBeLessThan(Math.min(...scores.subarray(0, 2)));
    expect(rest.map((score) => score - (rest[0] as number))).toEqual([0, -1, -2, -3]);
  });
});
