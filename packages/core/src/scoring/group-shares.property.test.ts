import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupShares } from "./group-shares.js";

const candidates = fc.array(fc.record({ similarity: fc.integer({ min: -20, max: 20 }), group: fc.nat(3) }), {
  minLength: 1,
  maxLength: 12,
});
const sharesOf = (list: readonly { readonly similarity: number; readonly group: number }[]): number[] => [
  ...groupShares(
    Float64Array.from(list, ({ similarity }) => similarity),
    Int32Array.from(list, ({ group }) => group),
  ),
];

describe("the shares of groups", () => {
  it("are one distribution over the groups, equal for members of a group", () => {
    fc.assert(
      fc.property(candidates, (list) => {
        const shares = new Map(sharesOf(list).map((share, i) => [list[i]?.group, share]));
        expect([...shares.values()].reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
        sharesOf(list).forEach((share, i) => {
          expect(share).toBe(shares.get(list[i]?.group));
        });
      }),
    );
  });

  it("do not change when similarities are shifted and stretched", () => {
    fc.assert(
      fc.property(candidates, (list) => {
        const moved = sharesOf(list.map(({ similarity, group }) => ({ similarity: 3 + 8 * similarity, group })));
        sharesOf(list).forEach((share, i) => {
          expect(moved[i]).toBeCloseTo(share, 4);
        });
      }),
      { numRuns: 50 },
    );
  });

  it("are votes of all candidates, e^0.6 times as heavy for each standard deviation", () => {
    const shares = sharesOf([
      { similarity: 1, group: 0 },
      { similarity: -1, group: 0 },
      { similarity: 1, group: 1 },
      { similarity: -1, group: 2 },
    ]);
    // The spread of 1 and −1 is 1.
    const low = Math.exp(-1.2);
    const all = 2 + 2 * low;
    [(1 + low) / all, (1 + low) / all, 1 / all, low / all].forEach((share, i) => {
      expect(shares[i]).toBeCloseTo(share, 12);
    });
  });
});
