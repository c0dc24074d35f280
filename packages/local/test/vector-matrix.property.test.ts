import fc from "fast-check";
import { expect, it } from "vitest";
import { vectorMatrix } from "../src/vector-matrix.js";

const unit = (values: readonly number[]): Float32Array => {
  const length = Math.hypot(...values) || 1;
  return Float32Array.from(values, (value) => value / length);
};

it("finds the same memories as a sort of all cosines, for any length, number and scope", () => {
  const vector = (dims: number) =>
    fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dims, maxLength: dims });
  const given = fc.integer({ min: 1, max: 40 }).chain((dims) =>
    fc.record({
      dims: fc.constant(dims),
      vectors: fc.array(fc.tuple(vector(dims), fc.integer({ min: 1, max: 2 }), fc.integer({ min: 0, max: 30 })), {
        maxLength: 60,
      }),
      request: vector(dims),
      copies: fc.constantFrom(1, 40),
    }),
  );
  fc.assert(
    fc.property(given, ({ dims, vectors, request, copies }) => {
      const matrix = vectorMatrix(dims);
      const asked = unit(request);
      const live = new Map<number, { scope: number; values: Float32Array }>();
      let id = 0;
      for (let copy = 0; copy < copies; copy++) {
        for (const [values, scope, memory] of vectors) {
          const key = copy * 31 + memory;
          matrix.add(++id, key, scope, unit(values));
          live.set(key, { scope, values: unit(values) });
        }
      }
      const cosine = (values: Float32Array): number =>
        values.reduce((sum, value, i) => sum + value * (asked[i] as number), 0);
      const expected = [...live.values()]
        .filter(({ scope }) => scope === 1)
        .map(({ values }) => cosine(values))
        .sort((a, b) => b - a);
      const found = matrix.nearest(asked, 1, 5, undefined);
      expect(found.length).toBe(Math.min(5, expected.length));
      for (const [place, hit] of found.entries()) {
        expect(hit.cosine).toBeCloseTo(expected[place] as number, 5);
        expect(matrix.cosine(asked, hit.memory)).toBeCloseTo(hit.cosine, 6);
      }
      expect(matrix.size).toBe(live.size);
    }),
    { numRuns: 60 },
  );
});
