import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kept } from "./half-life.js";

const DAY = 86_400_000;
const time = fc.double({ min: 0, max: 1_000 * DAY, noNaN: true });

describe("kept", () => {
  it("is free of cadence: fading twice is fading once for both times", () => {
    fc.assert(
      fc.property(time, time, fc.double({ min: DAY, max: 1_000 * DAY, noNaN: true }), (a, b, halfLife) => {
        expect(kept(a, halfLife) * kept(b, halfLife)).toBeCloseTo(kept(a + b, halfLife), 12);
      }),
    );
  });

  it("halves in a half-life, and leaves all where no time has passed, time ran backwards or nothing fades", () => {
    expect(kept(7 * DAY, 7 * DAY)).toBe(0.5);
    expect([kept(0, DAY), kept(-DAY, DAY), kept(1_000 * DAY, Number.POSITIVE_INFINITY)]).toEqual([1, 1, 1]);
  });
});
