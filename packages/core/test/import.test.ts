import { describe, expect, it } from "vitest";
import { type CavMemory, cav, createEngine, type Learner, memoryStore, qavr } from "../src/index.js";

/** The engine refuses the import and knows nothing more than before. */
async function expectRefused(learner: Learner, state: Record<string, unknown>, code: string): Promise<void> {
  const engine = createEngine({ store: memoryStore(), learner });
  const { importState } = engine as unknown as { importState(state: unknown): Promise<void> };
  await expect(importState(state)).rejects.toMatchObject({ name: "QavrError", code });
  expect((await engine.status()).seq).toBe(0);
}

const memory = (state: unknown) => ({ memories: [{ id: "m", state }] });
const legalCav: CavMemory = { evidence: 3, advantage: 1, vector: Float32Array.of(1, 0) };
const legalQavr = {
  q: 0.5,
  accessCount: 1,
  successCount: 1,
  failureCount: 0,
  lastAccessed: 0,
  updates: 1,
  unknown: {},
};

describe("importState", () => {
  it.each([
    ["a NaN advantage", { ...legalCav, advantage: Number.NaN }],
    ["negative evidence", { ...legalCav, evidence: -32 }],
    ["an infinite value in the vector", { ...legalCav, vector: Float32Array.of(Number.POSITIVE_INFINITY) }],
    ["a vector longer than any", { ...legalCav, vector: new Float32Array(1_025) }],
    ["a plain array for a vector", { ...legalCav, vector: [1, 0] }],
    ["nothing", undefined],
  ])("refuses a cav memory with %s", async (_, state) => {
    await expectRefused(cav() as Learner, memory(state), "INVALID_STATE");
  });

  it("refuses a cav collection whose mean and baseline differ in length, or hold a NaN", async () => {
    const empty = cav().shared.empty();
    await expectRefused(
      cav() as Learner,
      { shared: { ...empty, mean: Float32Array.of(1) }, memories: [] },
      "INVALID_STATE",
    );
    await expectRefused(cav() as Learner, { shared: { ...empty, bias: Number.NaN }, memories: [] }, "INVALID_STATE");
  });

  it.each([
    ["q out of range", { ...legalQavr, q: 1.7 }],
    ["a NaN q", { ...legalQavr, q: Number.NaN }],
    ["a count that is no number", { ...legalQavr, successCount: "3" }],
  ])("refuses a qavr memory with %s", async (_, state) => {
    await expectRefused(qavr() as Learner, memory(state), "INVALID_STATE");
  });

  it("refuses contexts that are no counts", async () => {
    await expectRefused(qavr() as Learner, { shared: { contexts: { a: Number.NaN } }, memories: [] }, "INVALID_STATE");
  });

  it.each([
    ["nothing", undefined],
    ["no list of memories", {}],
    ["a memory that is no object", { memories: [3] }],
  ])("refuses %s", async (_, state) => {
    await expectRefused(cav() as Learner, state as Record<string, unknown>, "INVALID_ARGUMENT");
  });

  it("takes over what another engine exported, and ranks as that one did", async () => {
    const first = createEngine({ store: memoryStore() });
    const candidates = ["a", "b", "c", "d"].map((id, i) => ({ id, similarity: 0.9 - i * 0.05 }));
    for (let run = 0; run < 20; run++) {
      const { episode, items } = await first.rank({ vector: [1, 0.1 * run], candidates, topK: 2 });
      await first.end(episode, { reward: items.some(({ id }) => id === "c"), tier: "verified" });
    }
    const second = createEngine({ store: memoryStore() });
    await second.importState(await first.exportState());
    const ask = { vector: [1, 0.5], candidates, topK: 4, record: false };
    const items = (await second.rank(ask)).items.map(({ id, learned }) => [id, learned]);
    expect(items).toEqual((await first.rank(ask)).items.map(({ id, learned }) => [id, learned]));
    expect(items.some(([, learned]) => learned !== 0)).toBe(true);
    expect((await second.replay()).identical).toBe(true);
  });
});
