import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import { successRate } from "../src/success-rate.js";

describe("success-rate@1", () => {
  it("P17: divides successes by outcomes, and starts at 0.5", async () => {
    const { run, rank } = loneMemory(successRate());
    for (const reward of [1, 1, 0]) await run(["a"], { reward });
    await run(["b"], { reward: 0 });
    const ranked = await rank({ new: 0.5, b: 0.5, a: 0.4 });
    // 0.7 · 0.4 + 0.3 · 2/3, 0.7 · 0.5 + 0.3 · 1/2, 0.7 · 0.5 + 0.3 · 0
    expect(ranked.map(([id]) => id)).toEqual(["new", "a", "b"]);
    const expected = { new: [0.5, 0.5], a: [0.48, 2 / 3], b: [0.35, 0] } as Record<string, number[]>;
    for (const [id, score, utility] of ranked) {
      expect(score).toBeCloseTo(expected[id]?.[0] as number, 12);
      expect(utility).toBeCloseTo(expected[id]?.[1] as number, 12);
    }
  });

  it("P17: makes one of three outcomes 0.33, as the published counters do", async () => {
    const { run, rank } = loneMemory(successRate());
    for (const reward of [0, 1, 0]) await run(["a"], { reward });
    expect(Number((await rank({ a: 0.5 }))[0]?.[2].toFixed(2))).toBe(0.33);
  });

  it("weighs an outcome by its weight: 1 at 0.3 and 0 at 1 make 0.3 / 1.3", async () => {
    const { run, rank, state } = loneMemory(successRate());
    await run(["a"], { reward: 1, weight: 0.3 });
    await run(["a"], { reward: 0 });
    expect((await rank({ a: 0.5 }))[0]?.[2]).toBeCloseTo(0.3 / 1.3, 7);
    // To the nearest 2⁻²⁴, so that it can be taken back to the bit.
    expect(await state("a")).toEqual({ sum: Math.round(0.3 * 2 ** 24) / 2 ** 24, evidence: 1 + 5_033_165 / 2 ** 24 });
  });

  it("says that it rescaled similarities that lie outside [0, 1]", async () => {
    const { engine, run } = loneMemory(successRate());
    await run(["a"], { reward: 1 });
    const candidates = [
      { id: "a", similarity: 12 },
      { id: "b", similarity: -3 },
    ];
    const ranking = await engine.rank({ candidates, topK: 2, record: false });
    expect(ranking.note).toContain("min-max");
    expect(ranking.items.map(({ score }) => score)).toEqual([1, expect.closeTo(0.15, 12)]);
  });
});
