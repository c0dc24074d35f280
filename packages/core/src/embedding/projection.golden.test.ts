import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { PROJECTED_DIMS, project } from "./projection.js";

/** The description in other arithmetic: each output takes every 512th input, with signs from the last bit of a mixed index. */
function independentProjection(vector: readonly number[]): number[] {
  const wrap = (value: bigint): bigint => value % 2n ** 32n;
  const sign = (i: number): number => {
    let bits = wrap(BigInt(i + 1) * 0x9e3779b1n);
    bits = wrap((bits ^ (bits >> 16n)) * 0x85ebca6bn);
    bits = wrap((bits ^ (bits >> 13n)) * 0xc2b2ae35n);
    bits ^= bits >> 16n;
    return bits % 2n === 1n ? -1 : 1;
  };
  return Array.from({ length: 512 }, (_, place) =>
    vector.reduce((sum, value, i) => (i % 512 === place ? sum + sign(i) * value : sum), 0),
  );
}

describe("project", () => {
  it.each([513, 768, 1_024, 1_536, 3_072])("agrees with an independent implementation at %d values", (length) => {
    const vector = seededRandom(length).direction(length);
    const expected = independentProjection(vector);
    [...project(vector)].forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i] as number, 6);
    });
  });

  it("is frozen: where inputs go must never change within a version", () => {
    const places = [0, 1, 2, 3, 510, 511, 512, 767, 1_535].map((input) => {
      const vector = new Float32Array(1_536);
      vector[input] = 1;
      const place = project(vector).findIndex((value) => value !== 0);
      return [input, place, project(vector)[place]];
    });
    expect(places).toEqual([
      [0, 0, -1],
      [1, 1, 1],
      [2, 2, 1],
      [3, 3, -1],
      [510, 510, 1],
      [511, 511, -1],
      [512, 0, -1],
      [767, 255, 1],
      [1_535, 511, -1],
    ]);
  });

  it("copies a vector of at most 512 values", () => {
    const vector = Float32Array.of(1, 2, 3);
    const projected = project(vector);
    expect([...projected]).toEqual([1, 2, 3]);
    projected[0] = 9;
    expect(vector[0]).toBe(1);
    expect(project(new Float32Array(PROJECTED_DIMS).fill(1))).toEqual(new Float32Array(PROJECTED_DIMS).fill(1));
  });

  it.each([768, 1_536, 3_072])(
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
      // Two values that share an output add 4 / length² to the variance where a and b are parallel, and less where they are not.
      const whole = Math.floor(length / 512);
      const shared = (whole * (whole - 1) * 512) / 2 + whole * (length - whole * 512);
      const bound = Math.sqrt(4 * shared) / length;
      expect(bound).toBeLessThan(1 / 16);
      expect(Math.sqrt(squares / pairs)).toBeLessThan(bound);
      expect(worst).toBeLessThan(5 * bound);
    },
  );

  it.each([768, 1_536, 3_072])("keeps as much of every one of %d values", (length) => {
    for (let input = 0; input < length; input++) {
      const vector = new Float32Array(length);
      vector[input] = 1;
      expect(Math.hypot(...project(vector))).toBe(1);
    }
  });
});
