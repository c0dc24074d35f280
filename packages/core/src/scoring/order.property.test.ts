import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestFirst } from "./order.js";

/** Few distinct values, so that ties are the rule; −0 and 0 tie too. */
const scores = fc.array(fc.oneof(fc.constantFrom(-1, -0, 0, 0.5, 1), fc.double({ noNaN: true })), { maxLength: 40 });

/** A stable sort of the competing entries, then the rest in their order. */
function oracle(values: readonly number[], count: number, movable: number): number[] {
  const indices = values.map((_, index) => index);
  const sorted = indices.slice(0, movable).sort((a, b) => {
    const [first, second] = [values[a] as number, values[b] as number];
    return first > second ? -1 : first < second ? 1 : a - b;
  });
  return [...sorted, ...indices.slice(movable)].slice(0, count);
}

describe("bestFirst", () => {
  it("equals the head of a stable sort, whatever ties, counts and movable heads there are", () => {
    fc.assert(
      fc.property(scores, fc.nat(50), fc.nat(50), (values, count, movable) => {
        expect(bestFirst(Float64Array.from(values), count, movable)).toEqual(oracle(values, count, movable));
      }),
      { numRuns: 500 },
    );
  });

  it("lets everything compete when no movable head is named", () => {
    fc.assert(
      fc.property(scores, fc.nat(50), (values, count) => {
        expect(bestFirst(Float64Array.from(values), count)).toEqual(oracle(values, count, values.length));
      }),
    );
  });
});
