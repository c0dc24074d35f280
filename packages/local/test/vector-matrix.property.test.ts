import fc from "fast-check";
import { expect, it } from "vitest";
import { vectorMatrix } from "../src/vector-matrix.js";
import { unitVector } from "./support/unit-vectors.js";

it("finds the same memories in the same order as a sort of all cosines, for any length, number, scope and filter", () => {
  const given = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(384)).chain((dims) =>
    fc.record({
      dims: fc.constant(dims),
      // Few different vectors, so that many memories are equally near.
      values: fc.array(unitVector(dims), { minLength: 1, maxLength: 12 }),
      added: fc.array(
        fc.record({ value: fc.nat(), scope: fc.integer({ min: 1, max: 2 }), memory: fc.integer({ min: 0, max: 900 }) }),
        { maxLength: 600, size: "max" },
      ),
      gone: fc.integer({ min: 2, max: 30 }),
      request: unitVector(dims),
      allowed: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 900 }), { maxLength: 300 })),
    }),
  );
  fc.assert(
    fc.property(given, ({ dims, values, added, gone, request, allowed }) => {
      const matrix = vectorMatrix(dims);
      const live = new Map<number, { readonly memory: number; readonly vector: number; readonly scope: number }>();
      for (const [i, { value, scope, memory }] of added.entries()) {
        const vector = i + 1;
        matrix.add(vector, memory, scope, values[value % values.length] as Float32Array);
        live.set(memory, { memory, vector, scope });
      }
      for (const { memory } of [...live.values()].filter(({ vector }) => vector % gone === 0)) live.delete(memory);
      matrix.keep(new Set([...live.values()].map(({ vector }) => vector)));
      expect(matrix.size).toBe(live.size);

      const only = allowed === null ? undefined : new Set(allowed);
      const sorted = [...live.values()]
        .filter(({ memory, scope }) => scope === 1 && only?.has(memory) !== false)
        .map(({ memory, vector }) => ({ memory, vector, cosine: matrix.cosine(request, memory) as number }))
        .sort((a, b) => b.cosine - a.cosine || a.vector - b.vector);
      for (const limit of [1, 5, 50]) {
        expect(matrix.nearest(request, 1, limit, only)).toEqual(sorted.slice(0, limit));
      }
    }),
    { numRuns: 100 },
  );
});
