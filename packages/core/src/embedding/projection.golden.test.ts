import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { MAX_DIMS, project } from "./projection.js";

/** The description in other arithmetic: each input goes to one output, place and sign from the bits of a mixed index. */
function independentProjection(vector: readonly number[]): number[] {
  const wrap = (value: bigint): bigint => value % 2n ** 32n;
  const projected = new Array<number>(256).fill(0);
  vector.forEach((value, i) => {
    let bits = wrap(BigInt(i + 1) * 0x9e3779b1n);
    bits = wrap((bits ^ (bits >> 16n)) * 0x85ebca6bn);
    bits = wrap((bits ^ (bits >> 13n)) * 0xc2b2ae35n);
    bits ^= bits >> 16n;
    const place = Number(bits % 256n);
    projected[place] = (projected[place] as number) + ((bits >> 8n) % 2n === 1n ? -value : value);
  });
  return projected;
}

describe("project", () => {
  it.each([257, 384, 768, 1_536, 3_072])("agrees with an independent implementation at %d values", (length) => {
    const vector = seededRandom(length).direction(length);
    const expected = independentProjection(vector);
    [...project(vector)].forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i] as number, 6);
    });
  });

  it("is frozen: where inputs go must never change within a version", () => {
    const places = [0, 1, 2, 3, 254, 255, 256, 767, 1_535].map((input) => {
      const vector = new Float32Array(1_536);
      vector[input] = 1;
      const place = project(vector).findIndex((value) => value !== 0);
      return [input, place, project(vector)[place]];
    });
    expect(places).toEqual([
      [0, 235, 1],
      [1, 222, -1],
      [2, 236, 1],
      [3, 223, 1],
      [254, 103, -1],
      [255, 155, -1],
      [256, 19, -1],
      [767, 216, 1],
      [1_535, 235, -1],
    ]);
  });

  it("copies a vector of at most 256 values", () => {
    const vector = Float32Array.of(1, 2, 3);
    const projected = project(vector);
    expect([...projected]).toEqual([1, 2, 3]);
    projected[0] = 9;
    expect(vector[0]).toBe(1);
    expect(project(new Float32Array(MAX_DIMS).fill(1))).toEqual(new Float32Array(MAX_DIMS).fill(1));
  });

  it.each([384, 768, 1_536])(
    "keeps inner products of unit vectors of %d values within its standard error",
    (length) => {
      const random = seededRandom(length);
      let squares = 0;
      let worst = 0;
      const pairs = 300;
      for (let pair = 0; pair < pairs; pair++) {
        const a = random.direction(length);
        const c = random.direction(length);
        // From nearly parallel to independent.
        const mixed = a.map((value, i) => value * (pair / pairs) + (c[i] as number) * (1 - pair / pairs));
        const norm = Math.hypot(...mixed);
        const b = mixed.map((value) => value / norm);
        const exact = a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
        const projectedA = project(a);
        const projectedB = project(b);
        const error = projectedA.reduce((sum, value, i) => sum + value * (projectedB[i] as number), 0) - exact;
        squares += error * error;
        worst = Math.max(worst, Math.abs(error));
      }
      // The doc's bound on the standard error is √2/16; five times it is what no pair of 300 exceeds.
      expect(Math.sqrt(squares / pairs)).toBeLessThan(Math.SQRT2 / 16);
      expect(worst).toBeLessThan((5 * Math.SQRT2) / 16);
    },
  );

  it("uses every output for common embedding lengths", () => {
    for (const length of [1_536, 3_072]) {
      const hit = project(Array.from({ length }, (_, i) => 1 + i * 1e-4));
      expect(hit.filter((value) => value !== 0).length).toBeGreaterThan(MAX_DIMS * 0.95);
    }
  });
});
