import { describe, expect, it } from "vitest";
import { advantages, shrunkMean, successes } from "../src/weighted-sum.js";

describe("a weighted sum", () => {
  it("never takes back more than an edit has left", () => {
    const counts = successes.codec.empty();
    const first = successes.add(counts, 1, 1);
    for (let i = 0; i < 3; i++) successes.add(counts, 0, 1);
    successes.keep(counts, 0.5);
    expect(counts).toEqual({ sum: 0.5, evidence: 2 });
    successes.remove(counts, first);
    expect(counts).toEqual({ sum: 0, evidence: 1 });
    successes.remove(counts, [3, -3]);
    expect(counts).toEqual({ sum: 0, evidence: 0 });

    const signed = advantages.codec.empty();
    const loss = advantages.add(signed, -1, 1);
    advantages.keep(signed, 0.25);
    advantages.add(signed, 1, 1);
    advantages.remove(signed, loss);
    // 0.25 of evidence is left, and the sum is at most as large.
    expect(signed).toEqual({ sum: 0.25, evidence: 0.25 });
  });

  it("is worth nothing, and takes no bytes, when all of it was taken back or edited away", () => {
    const counts = successes.codec.empty();
    successes.remove(counts, successes.add(counts, 0.3, 0.7));
    expect(successes.codec.encode(counts, 8)).toHaveLength(8);
    successes.add(counts, 0.3, 0.7);
    successes.keep(counts, 0);
    expect(successes.codec.encode(counts, 0)).toHaveLength(0);
  });

  it("refuses successes beyond the outcomes and advantages beyond the evidence", () => {
    expect(successes.codec.problem({ sum: 2, evidence: 1 })).toBe("sum must lie in [0, evidence]");
    expect(successes.codec.problem({ sum: -0.1, evidence: 1 })).toBe("sum must lie in [0, evidence]");
    expect(advantages.codec.problem({ sum: -1, evidence: 1 })).toBeUndefined();
    expect(advantages.codec.problem({ sum: -1.1, evidence: 1 })).toBe("sum must lie in [−evidence, evidence]");
  });

  it("draws its mean to the prior as if that had been seen so often", () => {
    expect(shrunkMean({ sum: 3, evidence: 4 }, 0.5, 6)).toBe(0.6);
    expect(shrunkMean({ sum: 0, evidence: 0 }, 0.5, 6)).toBe(0.5);
  });
});
