import { describe, expect, it } from "vitest";
import { createEngine, type Learner, memoryStore, oar, qValue } from "../src/index.js";
import type { OarMemory } from "../src/learners/index.js";
import { exportState, importState, replay } from "../src/maintenance/index.js";

/** The engine refuses the import and knows nothing more than before. */
async function expectRefused(learner: Learner, state: Record<string, unknown>, code: string): Promise<void> {
  const engine = createEngine({ store: memoryStore(), learner });
  await expect(importState(engine, state as never)).rejects.toMatchObject({ name: "QavrError", code });
  expect((await engine.status()).seq).toBe(0);
}

const memory = (state: unknown) => ({ memories: [{ id: "m", state }] });
const legalOar: OarMemory = {
  ...oar().memory.empty(),
  ...{ evidence: 3, reputation: 1, vector: Float32Array.of(1, 0) },
};
const legalQValue = {
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
    ["a NaN reputation", { ...legalOar, reputation: Number.NaN }],
    ["a reputation that sums up to infinity", { ...legalOar, reputation: -1e178 }],
    ["negative evidence", { ...legalOar, evidence: -32 }],
    ["evidence that sums up to infinity", { ...legalOar, evidence: 1e308 }],
    ["an infinite value in the vector", { ...legalOar, vector: Float32Array.of(Number.POSITIVE_INFINITY) }],
    ["a vector longer than any", { ...legalOar, vector: new Float32Array(1_025) }],
    ["a plain array for a vector", { ...legalOar, vector: [1, 0] }],
    ["nothing", undefined],
  ])("refuses an oar memory with %s", async (_, state) => {
    await expectRefused(oar() as Learner, memory(state), "INVALID_STATE");
  });

  it("refuses an oar collection whose mean and baseline differ in length, or whose bias is no number to rank with", async () => {
    const empty = oar().shared.empty();
    await expectRefused(
      oar() as Learner,
      { shared: { ...empty, mean: Float32Array.of(1) }, memories: [] },
      "INVALID_STATE",
    );
    await expectRefused(oar() as Learner, { shared: { ...empty, bias: Number.NaN }, memories: [] }, "INVALID_STATE");
    await expectRefused(oar() as Learner, { shared: { ...empty, bias: 1e178 }, memories: [] }, "INVALID_STATE");
  });

  it.each([
    ["q out of range", { ...legalQValue, q: 1.7 }],
    ["a NaN q", { ...legalQValue, q: Number.NaN }],
    ["a count that is no number", { ...legalQValue, successCount: "3" }],
  ])("refuses a q-value memory with %s", async (_, state) => {
    await expectRefused(qValue() as Learner, memory(state), "INVALID_STATE");
  });

  it("refuses contexts that are no counts", async () => {
    await expectRefused(
      qValue() as Learner,
      { shared: { contexts: { a: Number.NaN } }, memories: [] },
      "INVALID_STATE",
    );
  });

  it.each([
    ["nothing", undefined],
    ["no list of memories", {}],
    ["a memory that is no object", { memories: [3] }],
  ])("refuses %s", async (_, state) => {
    await expectRefused(oar() as Learner, state as Record<string, unknown>, "INVALID_ARGUMENT");
  });

  it("takes over what another engine exported, and ranks as that one did", async () => {
    const first = createEngine({ store: memoryStore() });
    const candidates = ["a", "b", "c", "d"].map((id, i) => ({ id, similarity: 0.9 - i * 0.05 }));
    for (let run = 0; run < 20; run++) {
      const { episode, items } = await first.rank({ vector: [1, 0.1 * run], candidates, topK: 2 });
      await first.end(episode, { reward: items.some(({ id }) => id === "c"), tier: "verified" });
    }
    const second = createEngine({ store: memoryStore() });
    await importState(second, await exportState(first));
    const ask = { vector: [1, 0.5], candidates, topK: 4, record: false };
    const items = (await second.rank(ask)).items.map(({ id, learned }) => [id, learned]);
    expect(items).toEqual((await first.rank(ask)).items.map(({ id, learned }) => [id, learned]));
    expect(items.some(([, learned]) => learned !== 0)).toBe(true);
    expect((await replay(second)).identical).toBe(true);
  });

  it("makes the namespace rank, and counts as no run that has taught", async () => {
    const engine = createEngine({ store: memoryStore() });
    await importState(engine, memory(legalOar) as never);
    const candidates = ["a", "m"].map((id, i) => ({ id, similarity: 0.9 - i / 100 }));
    const { episode, items } = await engine.rank({ candidates, topK: 1 });
    expect(items.map(({ id }) => id)).toEqual(["m"]);
    expect(await engine.status()).toMatchObject({ taught: 0, episodes: { recorded: 0 } });
    await engine.end(episode, { reward: true });
    expect(await engine.status()).toMatchObject({ taught: 1, episodes: { recorded: 1 } });
  });
});
