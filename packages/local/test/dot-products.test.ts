import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import wabt from "wabt";
import { dotProducts, MODULE } from "../src/dot-products.js";
import { unitVector } from "./support/unit-vectors.js";

it("runs the WebAssembly that its text says", async () => {
  const text = readFileSync(new URL("../src/dot-products.wat", import.meta.url), "utf8");
  const { parseWat } = await wabt();
  const compiled = parseWat("dot-products.wat", text, { simd: true }).toBinary({}).buffer;
  expect(MODULE).toBe(Buffer.from(compiled).toString("base64"));
});

it("never bounds a product below its value, for vectors of any length", () => {
  // From 517 numbers on, sums of the greatest codes would be beyond 32 bits.
  const given = fc
    .constantFrom(1, 7, 16, 17, 384, 517, 1_536)
    .chain((dims) => fc.tuple(fc.constant(dims), unitVector(dims), unitVector(dims)));
  fc.assert(
    fc.property(given, ([dims, row, request]) => {
      const products = dotProducts(dims);
      products.push(row);
      products.push(request);
      const bounds = products.bounds(request)(0);
      for (const [i, values] of [row, request].entries()) {
        const exact = products.exact(request, i);
        expect(bounds[i]).toBeGreaterThanOrEqual(exact);
        expect(exact).toBeCloseTo(
          values.reduce((sum, value, k) => sum + value * (request[k] as number), 0),
          5,
        );
      }
    }),
    { numRuns: 300, endOnFailure: true },
  );
});

it("says that vectors need more than WebAssembly's 4 GB", () => {
  expect(() => dotProducts(2 ** 30)).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
});
