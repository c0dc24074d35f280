import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countable } from "../src/weighted-sum.js";

const value = fc.double({ min: -1, max: 1, noNaN: true });

describe("countable", () => {
  it("is the nearest multiple of 2⁻²⁴, and never −0", () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(Number.isInteger(countable(given) * 2 ** 24)).toBe(true);
        expect(Math.abs(countable(given) - given)).toBeLessThanOrEqual(2 ** -25);
      }),
    );
    expect(Object.is(countable(-0), 0)).toBe(true);
    expect(Object.is(countable(-1e-12), 0)).toBe(true);
  });

  it("adds up to the same bits in every order, and takes back to the bit", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 200 }), value, (list, other) => {
        const sum = (values: readonly number[]): number => values.reduce((total, one) => total + countable(one), 0);
        expect(sum(list.toReversed())).toBe(sum(list));
        expect(sum(list) + countable(other) - countable(other)).toBe(sum(list));
      }),
    );
    // Sums of plain fractions do not have this property.
    expect(0.1 + 0.2 + 0.3).not.toBe(0.3 + 0.2 + 0.1);
  });
});
