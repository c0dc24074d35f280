import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RowVectors } from "./row-vectors.js";

const vectors = fc.array(
  fc.record({
    row: fc.integer({ min: 0, max: 40 }),
    vector: fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 12 }),
  }),
  { maxLength: 60 },
);

describe("RowVectors", () => {
  it("multiplies each row by what was put there last, whatever lengths the others have", () => {
    fc.assert(
      fc.property(
        vectors,
        fc.array(fc.integer({ min: -1, max: 40 }), { maxLength: 33 }),
        fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 14 }),
        (puts, asked, z) => {
          const rows = new RowVectors();
          const last = new Map<number, readonly number[]>();
          for (const { row, vector } of puts) {
            rows.set(row, Float32Array.from(vector));
            last.set(row, vector);
          }
          const known = asked.filter((row) => row < rows.dims.length);
          const expected = known.map((row) => {
            const vector = last.get(row);
            if (vector?.length !== z.length) return Number.NaN;
            return vector.reduce((sum, value, i) => sum + value * (z[i] as number), 0);
          });
          // Whole numbers add up exactly, in any order; 0 of either sign is 0.
          expect([...rows.dots(Int32Array.from(known), Float32Array.from(z))].map((value) => value + 0)).toEqual(
            expected.map((value) => value + 0),
          );
          for (const [row, vector] of last) expect(rows.norm[row]).toBeCloseTo(Math.hypot(...vector), 9);
        },
      ),
    );
  });
});
