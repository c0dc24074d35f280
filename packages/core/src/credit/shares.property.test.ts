import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CreditExposure, creditShares } from "./shares.js";

const exposure: fc.Arbitrary<CreditExposure> = fc.record({
  collection: fc.constantFrom("a", "ab", "1:a"),
  credited: fc.boolean(),
  items: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom("x", "bx", "y", "z", "a", "1:a"),
      weight: fc.constantFrom(0.1, 0.5, 0.5000001, 1),
    }),
    { selector: ({ id }) => id, maxLength: 5 },
  ),
});

const shown = (id: string, weight: number, credited = true, collection = "docs"): CreditExposure => ({
  collection,
  credited,
  items: [{ id, weight }],
});

describe("creditShares", () => {
  it("gives shares that sum to 1, equal ones to credited exposures with items and 0 to the others", () => {
    fc.assert(
      fc.property(fc.array(exposure, { maxLength: 6 }), (exposures) => {
        const shares = creditShares(exposures);
        const carriers = exposures.filter(({ credited, items }) => credited && items.length > 0).length;
        expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(carriers === 0 ? 0 : 1, 12);
        shares.forEach(({ share }, i) => {
          const { credited, items } = exposures[i] as CreditExposure;
          expect(share).toBe(credited && items.length > 0 ? 1 / carriers : 0);
        });
      }),
    );
  });

  it("counts a memory once per episode, at its largest weight among credited exposures", () => {
    fc.assert(
      fc.property(fc.array(exposure, { maxLength: 6 }), (exposures) => {
        const shares = creditShares(exposures);
        const counted = new Map<string, number[]>();
        const largest = new Map<string, number>();
        exposures.forEach(({ collection, credited, items }, e) => {
          items.forEach(({ id, weight }, i) => {
            const key = JSON.stringify([collection, id]);
            const given = shares[e]?.weights[i] as number;
            if (given !== 0) counted.set(key, [...(counted.get(key) ?? []), given]);
            if (credited) largest.set(key, Math.max(weight, largest.get(key) ?? 0));
          });
        });
        expect([...counted]).toHaveLength(largest.size);
        for (const [key, weight] of largest) expect(counted.get(key)).toEqual([weight]);
      }),
      { numRuns: 300 },
    );
  });

  it("takes the earlier of two equal showings", () => {
    expect(creditShares([shown("m", 0.5), shown("m", 0.5)])).toEqual([
      { share: 0.5, weights: [0.5] },
      { share: 0.5, weights: [0] },
    ]);
  });

  it("keeps memories of two collections apart, also when their names run together alike", () => {
    const shares = creditShares([shown("bm", 1, true, "a"), shown("m", 1, true, "ab")]);
    expect(shares.map(({ weights }) => weights)).toEqual([[1], [1]]);
  });

  it("leaves an uncredited exposure without a share, and its memories to the others", () => {
    expect(creditShares([shown("m", 1, false), shown("m", 0.2)])).toEqual([
      { share: 0, weights: [0] },
      { share: 1, weights: [0.2] },
    ]);
  });
});
