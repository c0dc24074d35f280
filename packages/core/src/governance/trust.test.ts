import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { audited, type SourceTrust, trustOf, UNAUDITED } from "./trust.js";

/** The trust after a row of claims, each audited by a judge of full weight. */
const after = (...agreements: readonly number[]): SourceTrust =>
  agreements.reduce<SourceTrust>((trust, agreement) => audited(trust, agreement, 1), UNAUDITED);

const agreements = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 });

describe("trustOf", () => {
  it("is 0 for a source that nothing is known about", () => {
    expect(trustOf(UNAUDITED)).toBe(0);
  });

  it("follows its formula", () => {
    const mean = 4 / 5;
    expect(trustOf({ agreed: 4, disagreed: 1 })).toBeCloseTo(
      2 * (mean - 0.7 * Math.sqrt((mean * (1 - mean)) / 6)) - 1,
      12,
    );
  });

  it("is earned by agreement: 0.37 after three audits, 0.72 after ten, nearly 1 after a hundred", () => {
    const of = (audits: number): number => trustOf(after(...Array<number>(audits).fill(1)));
    expect(of(3)).toBeCloseTo(0.37, 2);
    expect(of(10)).toBeCloseTo(0.72, 2);
    expect(of(100)).toBeGreaterThan(0.95);
  });

  it("is 0 for a liar and for a coin, never below", () => {
    expect(trustOf(after(...Array<number>(50).fill(0)))).toBe(0);
    expect(trustOf(after(...Array.from({ length: 50 }, (_, i) => i % 2)))).toBe(0);
  });

  it("lies in [0, 1] and never falls when the last claim agreed more", () => {
    fc.assert(
      fc.property(agreements, fc.double({ min: 0, max: 1, noNaN: true }), (past, agreement) => {
        const [lower, higher] = [trustOf(after(...past, agreement / 2)), trustOf(after(...past, agreement))];
        expect(lower).toBeGreaterThanOrEqual(0);
        expect(higher).toBeLessThanOrEqual(1);
        expect(higher).toBeGreaterThanOrEqual(lower);
      }),
    );
  });

  it("is lost by who turns: after fifty lies, a hundred honest claims count for little", () => {
    const turned = after(...Array<number>(100).fill(1), ...Array<number>(50).fill(0));
    const honest = after(...Array<number>(100).fill(1));
    expect(trustOf(turned)).toBeLessThan(0.3);
    expect(trustOf(turned)).toBeLessThan(trustOf(honest) / 3);
  });
});

describe("audited", () => {
  it("changes nothing for a judge who counts nothing, and half for one who counts half", () => {
    const before = after(1, 0, 1);
    expect(audited(before, 0, 0)).toEqual(before);
    expect(audited(UNAUDITED, 1, 0.5)).toEqual({ agreed: 1.5, disagreed: 1 });
  });

  it("lets the past fade by 0.995 per audit", () => {
    expect(after(1, 0)).toEqual({ agreed: 1 + 0.995, disagreed: 2 });
  });
});
