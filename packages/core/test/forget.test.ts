import { describe, expect, it } from "vitest";
import { cav, type Learner, memoryStore, oar, qavr } from "../src/index.js";
import { candidates, ids, request, snapshot, testEngine } from "./support/test-engine.js";

const knowledgeOf = async (engine: ReturnType<typeof testEngine>["engine"], id: string): Promise<unknown> =>
  (await engine.exportState()).memories.find((memory) => memory.id === id)?.state;

describe.each([
  ["oar", () => oar() as Learner],
  ["cav", () => cav() as Learner],
  ["qavr", () => qavr() as Learner],
])("forgetting ids, with %s", (_, learner) => {
  it("leaves nothing for a reused id", async () => {
    const { engine } = testEngine({ learner: learner() });
    for (let run = 0; run < 10; run++) {
      await engine.end((await engine.rank(request({ keepOrder: true }))).episode, { reward: false, harmful: ["d0"] });
    }
    expect(await knowledgeOf(engine, "d0")).toBeDefined();
    await engine.forget({ namespace: "default", ids: ["d0", "d0"] });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect(await knowledgeOf(engine, "d1")).toBeDefined();
    const reused = (await engine.rank(request({ topK: 10 }))).items.find(({ id }) => id === "d0");
    expect(reused).toMatchObject({ evidence: 0 });
    expect((await engine.status()).collections[0]).toMatchObject({ memories: 2 });
    expect(await engine.replay()).toMatchObject({ identical: true });
  });

  it("keeps outcomes of earlier episodes from reaching it, and lets those of later ones", async () => {
    const { engine } = testEngine({ learner: learner() });
    const before = await engine.rank(request({ aliases: ["before"] }));
    await engine.end(before.episode);
    await engine.forget({ namespace: "default", ids: ["d0"] });
    await engine.report("before", { reward: false, harmful: ["d0"] });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect(await knowledgeOf(engine, "d1")).toBeDefined();
    const after = await engine.rank(request());
    await engine.end(after.episode, { reward: true });
    expect(await knowledgeOf(engine, "d0")).toBeDefined();
    expect(await engine.replay()).toMatchObject({ identical: true });
  });

  it("keeps corrections of earlier episodes from reaching it", async () => {
    const { engine } = testEngine({ learner: learner() });
    const before = await engine.rank(request());
    await engine.end(before.episode, { reward: true, tier: "completed" });
    await engine.forget({ namespace: "default", ids: ["d0"] });
    const later = await engine.rank(request());
    await engine.end(later.episode, { reward: true });
    const known = await knowledgeOf(engine, "d0");
    await engine.report(before.episode, { reward: false, tier: "verified" });
    expect(await knowledgeOf(engine, "d0")).toEqual(known);
    expect(await engine.replay()).toMatchObject({ identical: true });
  });
});

describe("forgetting ids", () => {
  it("takes them out of open episodes too", async () => {
    const { engine } = testEngine();
    const { episode } = await engine.rank(request());
    const other = await engine.rank(request({ namespace: "other" }));
    await engine.forget({ namespace: "default", ids: ["d0"] });
    await expect(engine.end(episode, { reward: true, helpful: ["d0"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
    await engine.end(episode, { reward: true });
    await engine.end(other.episode, { reward: true });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect((await engine.exportState({ namespace: "other" })).memories).toHaveLength(3);
  });

  it("touches one collection only, and ids that were never shown do no harm", async () => {
    const { engine } = testEngine();
    for (const collection of ["a", "b"]) {
      await engine.end((await engine.rank(request({ collection }))).episode, { reward: true });
    }
    await engine.forget({ namespace: "default", collection: "a", ids: ["d0", "never shown"] });
    expect((await engine.exportState({ collection: "a" })).memories.map(({ id }) => id)).toEqual(["d1", "d2"]);
    expect((await engine.exportState({ collection: "b" })).memories.map(({ id }) => id)).toEqual(["d0", "d1", "d2"]);
    await engine.forget({ namespace: "default", ids: [] });
    expect(await engine.replay()).toMatchObject({ identical: true });
  });
});

describe("forgetting a namespace", () => {
  it("erases ledger, states, aliases and open episodes, and leaves the others alone", async () => {
    const store = memoryStore();
    const { engine } = testEngine({ store });
    for (const namespace of ["gone", "kept"]) {
      for (let run = 0; run < 5; run++) {
        await engine.end((await engine.rank(request({ namespace, aliases: ["run"] }))).episode, { reward: false });
      }
      await engine.rank(request({ namespace, aliases: ["open"] }));
    }
    const kept = await snapshot(store, "kept");
    await engine.forget({ namespace: "gone" });
    expect(await snapshot(store, "gone")).toEqual({ head: 0, states: {} });
    expect(await store.readEntries("gone", { limit: 10 })).toEqual([]);
    expect(await store.namespaces({ limit: 10 })).toEqual(["kept"]);
    for (const alias of ["run", "open"]) {
      expect(await engine.explain(alias, { namespace: "gone" })).toBeUndefined();
      expect(await engine.explain(alias, { namespace: "kept" })).toBeDefined();
    }
    expect(await snapshot(store, "kept")).toEqual(kept);
    const fresh = await engine.rank({ namespace: "gone", candidates: candidates(10), topK: 3, vector: [1, 0] });
    expect([ids(fresh), fresh.order]).toEqual([["d0", "d1", "d2"], "host"]);
    expect(await engine.fetchSize({ namespace: "gone", topK: 3 })).toBe(3);
  });

  it("lets an outcome that is under way for it fall into nothing, without harm", async () => {
    const { engine } = testEngine();
    const { episode } = await engine.rank(request({ aliases: ["run"] }));
    await engine.end(episode);
    await engine.forget({ namespace: "default" });
    await expect(engine.report("run", { reward: true })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    expect(await engine.status()).toMatchObject({ seq: 0, taught: 0 });
  });
});
