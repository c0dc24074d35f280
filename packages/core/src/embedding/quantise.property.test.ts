import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../test/support/random.js";
import { dot, toUnit } from "../scoring/vectors.js";
import { dequantise, quantise } from "./quantise.js";

const DEGREE = Math.PI / 180;

/** Angle between a vector and its quantised direction, in radians. */
function turned(vector: Float32Array): number {
  const unit = toUnit(vector.slice());
  return Math.acos(Math.min(1, dot(unit, dequantise(quantise(vector) as Int8Array))));
}

describe("quantise", () => {
  it("turns directions whose values spread normally by 0.4 degrees on average and 0.6 at worst", () => {
    const random = seededRandom(5);
    for (const dims of [2, 16, 128, 256]) {
      const angles = Array.from({ length: 100 }, () => turned(Float32Array.from(random.direction(dims))));
      expect(angles.reduce((sum, angle) => sum + angle) / angles.length).toBeLessThan(0.42 * DEGREE);
      expect(Math.max(...angles)).toBeLessThan(0.61 * DEGREE);
    }
  });

  it("turns no direction by more than half a level in each value", () => {
    const vectors = fc.float32Array({ min: -1, max: 1, noNaN: true, minLength: 1, maxLength: 256 });
    fc.assert(
      fc.property(vectors, (vector) => {
        const greatest = Math.max(...vector.map(Math.abs));
        fc.pre(greatest > 1e-30);
        // √D errors of half a level against a length of at least 127 levels.
        const bound = Math.asin(Math.min(1, (Math.sqrt(vector.length) * 0.5) / 127));
        expect(turned(vector)).toBeLessThanOrEqual(bound + 1e-3);
      }),
    );
  });

  it("gives the greatest magnitude all 127 levels, in either sign", () => {
    expect([...(quantise(Float32Array.of(0.5, -1, 0.25)) as Int8Array)]).toEqual([64, -127, 32]);
    expect([...(quantise(Float32Array.of(3e-20, 0)) as Int8Array)]).toEqual([127, 0]);
  });

  it("is undefined for a zero vector and for an empty one", () => {
    expect(quantise(new Float32Array(4))).toBeUndefined();
    expect(quantise(new Float32Array(0))).toBeUndefined();
  });

  it("keeps the direction only: a stretched vector gives the same bytes", () => {
    const vector = Float32Array.from(seededRandom(9).direction(64));
    expect(quantise(vector.map((value) => value * 1_024))).toEqual(quantise(vector));
  });

  it("is stable: what was restored and quantised again is the same bytes", () => {
    const random = seededRandom(11);
    for (let trial = 0; trial < 50; trial++) {
      const bytes = quantise(Float32Array.from(random.direction(256))) as Int8Array;
      expect(quantise(dequantise(bytes))).toEqual(bytes);
    }
  });
});

describe("dequantise", () => {
  it("gives a unit vector", () => {
    const vector = dequantise(Int8Array.of(127, -127, 3));
    expect(dot(vector, vector)).toBeCloseTo(1, 6);
  });
});
