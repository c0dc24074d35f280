import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestFirst } from "./order.js";
import { spread } from "./spread.js";
import { boundUnverified, UNVERIFIED_LIFT } from "./unverified.js";

const lists = fc
  .array(
    fc.record({
      similarity: fc.constantFrom(0.1, 0.2, 0.25, 0.5, 0.5, 0.75, 0.8, 0.9),
      learned: fc.double({ min: -1, max: 1, noNaN: true }),
      unverified: fc.boolean(),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((items) => ({
    similarities: Float64Array.from(items, ({ similarity }) => similarity),
    scores: Float64Array.from(items, ({ similarity, learned }) => similarity + learned),
    unverified: Uint8Array.from(items, ({ unverified }) => Number(unverified)),
  }));

describe("the bound on unverified memories", () => {
  it("is its formula", () => {
    fc.assert(
      fc.property(lists, ({ similarities, scores, unverified }) => {
        const bounded = scores.slice();
        boundUnverified(bounded, similarities, unverified);
        const lift = UNVERIFIED_LIFT * spread(similarities);
        scores.forEach((score, u) => {
          const own = similarities[u] as number;
          const rivals = [...scores].filter(
            (rival, v) => unverified[v] === 0 && (similarities[v] as number) >= own && rival >= own,
          );
          const expected = unverified[u] === 1 ? Math.min(score, own + lift, ...rivals) : score;
          expect(bounded[u]).toBe(expected);
        });
      }),
    );
  });

  it("lets none pass a verified memory that stood before it and has not fallen below its similarity", () => {
    fc.assert(
      fc.property(lists, ({ similarities, scores, unverified }) => {
        // The host's order: most similar first.
        const places = [...similarities.keys()].sort(
          (a, b) => (similarities[b] as number) - (similarities[a] as number),
        );
        const by = <T extends Float64Array | Uint8Array>(values: T): T =>
          values.map((_, i) => values[places[i] as number] as number) as T;
        const [sorted, bounded, marks] = [by(similarities), by(scores), by(unverified)];
        boundUnverified(bounded, sorted, marks);
        const order = bestFirst(bounded, bounded.length);
        const rank = (place: number): number => order.indexOf(place);
        for (let u = 0; u < marks.length; u++) {
          for (let v = 0; v < u; v++) {
            if (marks[u] !== 1 || marks[v] === 1 || (bounded[v] as number) < (sorted[u] as number)) continue;
            expect(rank(v)).toBeLessThan(rank(u));
          }
        }
      }),
    );
  });
});
