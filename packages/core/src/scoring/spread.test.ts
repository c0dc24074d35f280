import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { spread } from "./spread.js";

describe("spread", () => {
  it("is the population standard deviation", () => {
    // Deviations from 5: −3, −1, −1, −1, 0, 0, 2, 4. Their squares sum to 32 over 8 values: variance 4.
    expect(spread(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9))).toBe(2);
  });

  it("is 0 for no value and for one", () => {
    expect(spread(new Float64Array(0))).toBe(0);
    expect(spread(Float64Array.of(3))).toBe(0);
  });

  it("stretches with its values and ignores where they lie", () => {
    const values = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(
        values,
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.double({ min: -10, max: 10, noNaN: true }),
        (list, a, b) => {
          const original = spread(Float64Array.from(list));
          expect(spread(Float64Array.from(list, (value) => a * value + b))).toBeCloseTo(a * original, 9);
        },
      ),
    );
  });

  it("is exactly 0 for equal values, also where their sum is rounded", () => {
    for (const value of [0.1, 0.7, 1e-9, 12345.678]) {
      for (let length = 2; length < 60; length++) {
        expect(spread(new Float64Array(length).fill(value))).toBe(0);
      }
    }
  });
});
