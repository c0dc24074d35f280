import { describe, expect, it } from "vitest";
import { createEngine, memoryStore, type OutcomeInput, QavrError, qValue } from "../index.js";
import { exportState } from "../maintenance/index.js";

import { blend } from "../scoring/blend.js";
import { decayedQ, type QValueState, updatedQ } from "./q-value.js";

// Every number here is arithmetic on the published formula: lr 0.1, rewards 1 / 0.1 / −0.2, decay 0.99 a day, α 0.3 when warm.

const DAY = 86_400_000;

/** An engine on the learner under test, with a clock that the test moves. */
function setUp(options: Parameters<typeof qValue>[0] = {}) {
  let now = Date.UTC(2026, 0, 1);
  const engine = createEngine({ store: memoryStore(), learner: qValue(options), clock: () => now });
  const run = async (ids: readonly string[], outcome: OutcomeInput, context = "default"): Promise<void> => {
    const candidates = ids.map((id, i) => ({ id, similarity: 0.9 - i * 0.01 }));
    const { episode } = await engine.rank({ context, candidates, topK: ids.length });
    await engine.end(episode, { tier: "verified", ...outcome });
  };
  const memory = async (id: string): Promise<QValueState> => {
    const { memories } = await exportState(engine);
    return memories.find((found) => found.id === id)?.state as QValueState;
  };
  return { engine, run, memory, pass: (ms: number) => (now += ms) };
}

describe("the formulas of q-value@1", () => {
  it("Q1, Q5: blends (1 − α)·similarity + α·q, so that 0.3 lets (0.7, 0.6) overtake (0.8, 0.2)", () => {
    expect(blend(0.8, 0.2, 0.3)).toBeCloseTo(0.62, 12);
    expect(blend(0.7, 0.6, 0.3)).toBeCloseTo(0.67, 12);
    expect(blend(0.37, 0.9, 0)).toBe(0.37);
  });

  it("Q5: bridges at most α / (1 − α) = 0.4286 of similarity", () => {
    expect(blend(0.5714, 1, 0.3)).toBeLessThan(blend(1, 0.0001, 0.3));
    expect(blend(0.5715, 1, 0.3)).toBeGreaterThan(blend(1, 0, 0.3));
  });

  it("Q7: reaches 0.8257 after ten successes from 0.5", () => {
    let q = 0.5;
    for (let i = 0; i < 10; i++) q = updatedQ(q, 1, 0.1);
    expect(q).toBeCloseTo(0.8257, 4);
  });

  it("Q9: falls to exactly 0 at the twelfth failure from 0.5", () => {
    const expected = [0.43, 0.367, 0.3103, 0.2593, 0.2133, 0.172, 0.1348, 0.1013, 0.0712, 0.0441, 0.0197, 0];
    let q = 0.5;
    for (const value of expected) {
      q = updatedQ(q, -0.2, 0.1);
      expect(q).toBeCloseTo(value, 4);
    }
    expect(q).toBe(0);
  });

  it("pulls an unused memory towards 0.1: a punishment for any better one", () => {
    let high = 0.75;
    let middle = 0.5;
    for (let i = 0; i < 10; i++) {
      high = updatedQ(high, 0.1, 0.1);
      middle = updatedQ(middle, 0.1, 0.1);
    }
    expect(high).toBeCloseTo(0.3266, 4);
    expect(middle).toBeCloseTo(0.2395, 4);
  });

  it.each([
    [30, 0.3699],
    [90, 0.2024],
    [180, 0.0819],
    [365, 0.0128],
  ])("Q10, Q16: decays 0.5 over %i days to %f, in one step or in many", (days, expected) => {
    expect(decayedQ(0.5, 0, days * DAY, 0.99)).toBeCloseTo(expected, 4);
    let stepped = 0.5;
    for (let day = 0; day < days; day++) stepped = decayedQ(stepped, day * DAY, (day + 1) * DAY, 0.99);
    expect(stepped).toBeCloseTo(expected, 4);
  });

  it("decays nothing for a clock that ran backwards, nor for a memory that was never retrieved", () => {
    expect(decayedQ(0.5, 10 * DAY, 0, 0.99)).toBe(0.5);
    expect(decayedQ(0.5, Number.NaN, 10 * DAY, 0.99)).toBe(0.5);
  });
});

describe("q-value@1 in the engine", () => {
  it("Q2, Q3, Q11: is cold for 99 finished episodes of a context and warm at 100, collecting q all along", async () => {
    const { engine, run, memory } = setUp();
    const probe = () =>
      engine.rank({
        candidates: [
          { id: "poor", similarity: 0.8 },
          { id: "good", similarity: 0.7 },
        ],
        topK: 2,
        record: false,
      });
    for (let i = 0; i < 49; i++) {
      await run(["poor"], { reward: 0 });
      await run(["good"], { reward: 1 });
    }
    await run(["good"], { reward: 1 });
    expect(await memory("poor")).toMatchObject({ q: 0, failureCount: 49, successCount: 0, accessCount: 49 });
    expect((await memory("good")).q).toBeGreaterThan(0.99);
    expect(await probe()).toMatchObject({ order: "host", gate: 0 });
    await run(["good"], { reward: 1 });
    const warm = await probe();
    expect(warm.items.map(({ id }) => id)).toEqual(["good", "poor"]);
    expect(warm.gate).toBe(0.3);
    expect(warm.items[1]?.score).toBeCloseTo(0.7 * 0.8, 12);
  });

  it("counts finished episodes, not retrievals, unknown ends or repeated reports", async () => {
    const { engine, run } = setUp();
    await run(["a"], { reward: null });
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, aliases: ["run"] });
    await engine.end(episode, { reward: 1, tier: "completed" });
    await engine.report("run", { reward: 0, tier: "verified" });
    const { collections } = await engine.status();
    expect(collections[0]?.learner).toEqual({
      contexts: { default: { interactions: 1, mode: "cold", interactionsToWarm: 99 } },
    });
  });

  it("keeps contexts apart: one warms without the other", async () => {
    const { engine, run } = setUp({ warmThreshold: 2 });
    await run(["a"], { reward: 1 }, "coding");
    await run(["a"], { reward: 1 }, "coding");
    await run(["a"], { reward: 1 }, "debugging");
    const ask = (context: string) =>
      engine.rank({ context, candidates: [{ id: "a", similarity: 0.5 }], topK: 1, record: false });
    expect((await ask("coding")).gate).toBe(0.3);
    expect((await ask("debugging")).gate).toBe(0);
    expect((await ask("research")).gate).toBe(0);
  });

  it("Q8: gives 1 to a used memory, 0.1 to one that was not, and −0.2 to all of a failed run", async () => {
    const { run, memory } = setUp();
    await run(["used", "unused"], { reward: 1, used: ["used"] });
    expect((await memory("used")).q).toBeCloseTo(0.55, 12);
    expect((await memory("unused")).q).toBeCloseTo(0.46, 12);
    await run(["failed"], { reward: 0 });
    expect((await memory("failed")).q).toBeCloseTo(0.43, 12);
  });

  it("Q8: takes the plain failure of the code comment when told to", async () => {
    const { run, memory } = setUp({ rewards: { failed: 0 } });
    await run(["failed"], { reward: 0 });
    expect((await memory("failed")).q).toBeCloseTo(0.45, 12);
  });

  it("Q4: lets only the first 2·topK candidates compete", async () => {
    const { engine, run } = setUp({ warmThreshold: 1 });
    for (let i = 0; i < 30; i++) await run(["late"], { reward: 1 });
    const candidates = ["a", "b", "c", "d", "late"].map((id, i) => ({ id, similarity: 0.9 - i * 0.001 }));
    const ids = async (topK: number) =>
      (await engine.rank({ candidates, topK, record: false })).items.map(({ id }) => id);
    expect(await ids(2)).toEqual(["a", "b"]);
    expect(await ids(3)).toEqual(["late", "a", "b"]);
    expect(await engine.fetchSize({ topK: 3 })).toBe(6);
  });

  it("Q6: maps similarities outside [0, 1] by min–max and says so", async () => {
    const { engine, run } = setUp({ warmThreshold: 1 });
    await run(["a"], { reward: 1 });
    const candidates = [
      { id: "a", similarity: 12 },
      { id: "b", similarity: -3 },
    ];
    const ranking = await engine.rank({ candidates, topK: 2, record: false });
    expect(ranking.note).toContain("min-max");
    expect(ranking.items[0]?.score).toBeCloseTo(0.7 * 1 + 0.3 * 0.55, 12);
    expect(ranking.items[1]?.score).toBeCloseTo(0.3 * 0.5, 12);
  });

  it("Q16: fades what is not retrieved, and a retrieval sets its clock anew", async () => {
    const { run, memory, engine, pass } = setUp({ warmThreshold: 1 });
    await run(["a"], { reward: 1 });
    pass(30 * DAY);
    const read = async () =>
      (await engine.rank({ candidates: [{ id: "a", similarity: 0.5 }], topK: 1, record: false })).items[0]?.utility;
    expect(await read()).toBeCloseTo(0.55 * 0.99 ** 30, 12);
    expect(await read()).toBeCloseTo(0.55 * 0.99 ** 30, 12);
    await run(["a"], { reward: null });
    expect((await memory("a")).q).toBeCloseTo(0.55 * 0.99 ** 30, 12);
    expect((await memory("a")).accessCount).toBe(2);
  });

  it("takes an outcome back exactly when a better one replaces it", async () => {
    const { engine, memory } = setUp();
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, aliases: ["run"] });
    await engine.end(episode, { reward: 1, tier: "completed", weight: 1 });
    await engine.report("run", { reward: 0, tier: "user" });
    expect(await memory("a")).toMatchObject({ successCount: 0, failureCount: 1, accessCount: 1 });
    expect((await memory("a")).q).toBeCloseTo(0.43, 12);
  });

  it.each([
    { learningRate: 0 },
    { learningRate: 1.1 },
    { decayFactor: 0 },
    { warmThreshold: 1.5 },
    { alphaWarm: -0.1 },
    { initialQ: Number.NaN },
    { overFetch: 0 },
    { rewards: { failed: -2 } },
  ])("refuses %o", (options) => {
    let thrown: unknown;
    try {
      qValue(options);
    } catch (error) {
      thrown = error;
    }
    expect(QavrError.isInstance(thrown, "INVALID_ARGUMENT")).toBe(true);
  });
});
