import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addScaled, dot, toUnit, unitDifference } from "./vectors.js";

const pair = fc
  .integer({ min: 1, max: 300 })
  .chain((length) =>
    fc.tuple(
      fc.float32Array({ min: -8, max: 8, noNaN: true, minLength: length, maxLength: length }),
      fc.float32Array({ min: -8, max: 8, noNaN: true, minLength: length, maxLength: length }),
    ),
  );

const plainDot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

describe("dot", () => {
  it("is the sum of products at every length, also where four do not divide it", () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(dot(a, b)).toBeCloseTo(plainDot(a, b), 8);
      }),
    );
  });

  it("is exact where the numbers are", () => {
    expect(dot(Float32Array.of(1, 2, 3, 4, 5), Float32Array.of(5, 4, 3, 2, 1))).toBe(35);
    expect(dot(new Float32Array(0), new Float32Array(0))).toBe(0);
  });
});

describe("toUnit", () => {
  it("gives length 1 and keeps the direction", () => {
    fc.assert(
      fc.property(pair, ([a]) => {
        fc.pre(plainDot(a, a) > 1e-6);
        const unit = toUnit(a.slice());
        expect(plainDot(unit, unit)).toBeCloseTo(1, 5);
        expect(plainDot(unit, a)).toBeCloseTo(Math.sqrt(plainDot(a, a)), 3);
      }),
    );
  });

  it("leaves a zero vector at zero", () => {
    expect(toUnit(new Float32Array(3))).toEqual(new Float32Array(3));
  });

  it("works in place", () => {
    const vector = Float32Array.of(3, 4);
    expect(toUnit(vector)).toBe(vector);
    expect([...vector]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
  });
});

describe("unitDifference", () => {
  it("is the direction from the second to the first and changes neither", () => {
    const a = Float32Array.of(5, 1);
    const b = Float32Array.of(2, 5);
    expect([...unitDifference(a, b)]).toEqual([Math.fround(0.6), Math.fround(-0.8)]);
    expect([...a, ...b]).toEqual([5, 1, 2, 5]);
  });

  it("is zero between equal vectors", () => {
    expect(unitDifference(Float32Array.of(1, 2), Float32Array.of(1, 2))).toEqual(new Float32Array(2));
  });
});

describe("addScaled", () => {
  it("adds a multiple in place, also of the vector itself", () => {
    const target = Float32Array.of(1, 2);
    addScaled(target, 0.5, Float32Array.of(4, -4));
    expect([...target]).toEqual([3, 0]);
    addScaled(target, -0.5, target);
    expect([...target]).toEqual([1.5, 0]);
  });
});
