import type { Learner } from "@qavr/core";
import { importState } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import { DAY, START } from "../../core/test/support/test-engine.js";
import { movingAverages } from "../src/moving-average.js";
import type { Score10Memory } from "../src/score10.js";
import { quality, recency, score10, unreachableScores } from "../src/score10.js";

/** The published update on its own. */
function updated(score: number, delta: number): number {
  const average = { value: score, evidence: 0, updates: 0 };
  movingAverages(0, -10, 10).move(average, delta, 0.3, 1);
  return average.value;
}

describe("score10@1", () => {
  it.each([
    [0, 2, 0.6],
    [0, -3, -0.9],
    [1, 2, 1.3],
    [-2, -3, -2.3],
    [9.9, 2, 7.53],
    [-9.9, -3, -7.83],
  ])("R8: moves %f by a vote worth %i to %f, as published", (score, delta, expected) => {
    expect(updated(score, delta)).toBeCloseTo(expected, 12);
  });

  it.each([
    ["never used", 0, Number.NaN, 0.55],
    ["+2, used 90 days ago", 2, START - 90 * DAY, 0.605],
    ["−3, used now", -3, START, 0.705],
    ["+2, used now", 2, START, 0.78],
  ])("R10: ranks a memory that is %s at similarity 0.8 as published: %f", async (_, value, lastUsed, expected) => {
    const { engine, rank } = loneMemory(score10());
    const state: Score10Memory = { value, evidence: value === 0 ? 0 : 1, updates: 1, lastUsed };
    await importState(engine, { memories: [{ id: "m", state }] });
    expect((await rank({ m: 0.8 }))[0]?.[1]).toBeCloseTo(expected, 12);
  });

  it("maps −10 to 0, 0 to a half and 10 to 1, and halves recency every 30 days", () => {
    expect([-10, 0, 10].map(quality)).toEqual([0, 0.5, 1]);
    expect(recency(START, START + 60 * DAY, 30)).toBe(0.25);
    expect(recency(START + DAY, START, 30)).toBe(1);
  });

  it("never leaves (−3, 2) by its own votes: 200 harmful ones end just above −3", () => {
    let score = 0;
    for (let i = 0; i < 200; i++) score = updated(score, -3);
    expect(score).toBeGreaterThanOrEqual(-3);
    expect(score).toBeCloseTo(-3, 12);
    expect(updated(2, 2)).toBe(2);
  });

  it("R12: names the published thresholds of pruning as ones that never fire, and those that do", () => {
    expect(unreachableScores([-8, -5, -3, -2.99, 0, 1.99, 2])).toEqual([-8, -5, -3, 2]);
    expect(unreachableScores([-8, -5, -3], { helpful: 3, harmful: -5, rate: 0.5 })).toEqual([-8, -5]);
    expect(unreachableScores([-10, 10], { helpful: 10, harmful: -10 })).toEqual([-10, 10]);
    expect(unreachableScores([-10, 10], { helpful: 10, harmful: -10, rate: 1 })).toEqual([]);
    // The longest run of harmful votes, in the arithmetic of the learner.
    let score = 0;
    for (let i = 0; i < 10_000; i++) score = updated(score, -3);
    expect(score).toBeGreaterThan(-3);
  });

  it("lets votes decide, and the end of a run where there are none", async () => {
    const { run, state } = loneMemory(score10());
    await run(["good", "bad", "bystander"], { reward: 1, helpful: ["good"], harmful: ["bad"] });
    expect((await state("good")).value).toBeCloseTo(0.6, 12);
    expect((await state("bad")).value).toBeCloseTo(-0.9, 12);
    expect(await state("bystander")).toMatchObject({ value: 0, evidence: 0, lastUsed: START });
    await run(["won", "along"], { reward: 0.5 });
    await run(["lost"], { reward: 0.49 });
    expect((await state("won")).value).toBeCloseTo(0.6, 12);
    expect((await state("along")).value).toBeCloseTo(0.6, 12);
    expect((await state("lost")).value).toBeCloseTo(-0.9, 12);
    await run(["light"], { reward: 1, weight: 0.5 });
    expect(await state("light")).toMatchObject({ evidence: 0.5, value: 0.15 * 2 });
  });

  it("waits for votes when told to", async () => {
    const { run, state } = loneMemory(score10({ learnFromRewards: false }));
    await run(["a"], { reward: 1 });
    expect(await state("a")).toMatchObject({ value: 0, updates: 0 });
    await run(["a"], { reward: null, harmful: ["a"] });
    expect(await state("a")).toMatchObject({ value: expect.closeTo(-0.9, 12) });
  });

  it("R10: keeps memories below −5 behind all others instead of dropping them", async () => {
    const { engine, rank } = loneMemory(score10());
    const state: Score10Memory = { value: -5.1, evidence: 3, updates: 3, lastUsed: START };
    await importState(engine, {
      memories: [
        { id: "outcast", state },
        { id: "edge", state: { ...state, value: -5 } },
      ],
    });
    const ranked = await rank({ outcast: 1, edge: -1, fresh: -1 });
    expect(ranked.map(([id]) => id)).toEqual(["edge", "fresh", "outcast"]);
  });

  it("R11: asks for five candidates per item, at most a hundred", () => {
    const { fetchK } = score10() as unknown as Required<Learner>;
    expect([1, 16, 20, 21, 50].map(fetchK)).toEqual([5, 80, 100, 100, 100]);
  });

  it("R11: notes the use of what it returned, which is no more than there is, and leaves scores alone", async () => {
    const { engine, run, state } = loneMemory(score10());
    expect((await engine.rank({ candidates: [], topK: 5 })).items).toEqual([]);
    const candidates = ["a", "b"].map((id) => ({ id, similarity: 0.5 }));
    expect((await engine.rank({ candidates, topK: 5 })).items).toHaveLength(2);
    await run(["a"], { reward: null });
    expect(await state("a")).toEqual({ value: 0, evidence: 0, updates: 0, lastUsed: START });
    const { memories } = await engine.memories({ ids: ["a", "b"] });
    expect(memories).toMatchObject([{ lastShown: START, utility: 0 }, { shown: 0 }]);
  });

  it("takes an older vote back as far as later ones of its weight have left of it", async () => {
    const { engine, state } = loneMemory(score10());
    const votes = ["+", "−", "+"].map((sign, i) => ({ sign, alias: `run ${i}` }));
    for (const { sign, alias } of votes) {
      const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, aliases: [alias] });
      await engine.end(episode, { reward: sign === "+", tier: "user" });
    }
    // 0 → 0.6 → −0.48 → 0.264. Without the first vote: −0.9 → −0.03; then a harmful one on top: −0.921.
    expect((await state("a")).value).toBeCloseTo(0.264, 12);
    await engine.report("run 0", { reward: false, tier: "verified" });
    expect(await state("a")).toMatchObject({ updates: 3, evidence: 3 });
    expect((await state("a")).value).toBeCloseTo(-0.921, 12);
  });
});
