import { describe, expect, it } from "vitest";
import { clamp, sigmoid } from "./bounds.js";

describe("clamp", () => {
  it("keeps what lies inside and moves the rest to the nearer bound", () => {
    expect([-2, -1, 0, 1, 2].map((value) => clamp(value, -1, 1))).toEqual([-1, -1, 0, 1, 1]);
    expect(clamp(Number.POSITIVE_INFINITY, 0, 1)).toBe(1);
    expect(clamp(Number.NEGATIVE_INFINITY, 0, 1)).toBe(0);
  });
});

describe("sigmoid", () => {
  it("is the logistic function", () => {
    expect(sigmoid(0)).toBe(0.5);
    expect(sigmoid(Math.log(3))).toBeCloseTo(0.75, 15);
    expect(sigmoid(-Math.log(3))).toBeCloseTo(0.25, 15);
  });

  it("saturates without overflow or NaN", () => {
    expect(sigmoid(1_000)).toBe(1);
    expect(sigmoid(-1_000)).toBe(0);
  });
});
