import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Learner, memoryStore, oar, qValue } from "../src/index.js";
import { exportState, forget, replay } from "../src/maintenance/index.js";
import { withOutbox } from "../src/store-kit.js";

import { faultyStore } from "./support/faulty-store.js";
import { heldStore } from "./support/held-store.js";
import { type MemoryOutbox, memoryOutbox } from "./support/memory-outbox.js";
import { candidates, ids, MINUTE, oneRun, request, snapshot, testEngine, testEpisode } from "./support/test-engine.js";

const knowledgeOf = async (engine: ReturnType<typeof testEngine>["engine"], id: string): Promise<unknown> =>
  (await exportState(engine)).memories.find((memory) => memory.id === id)?.state;

describe.each([
  ["oar", () => oar() as Learner],
  ["qavr", () => qValue() as Learner],
])("forgetting ids, with %s", (_, learner) => {
  it("leaves nothing for a reused id", async () => {
    const { engine } = testEngine({ learner: learner() });
    for (let run = 0; run < 10; run++) {
      await engine.end((await engine.rank(request({ keepOrder: true }))).episode, { reward: false, harmful: ["d0"] });
    }
    expect(await knowledgeOf(engine, "d0")).toBeDefined();
    await forget(engine, { namespace: "default", ids: ["d0", "d0"] });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect(await knowledgeOf(engine, "d1")).toBeDefined();
    const reused = (await engine.rank(request({ topK: 10 }))).items.find(({ id }) => id === "d0");
    expect(reused).toMatchObject({ evidence: 0 });
    expect((await engine.status()).collections[0]).toMatchObject({ memories: 2 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps outcomes of earlier episodes from reaching it, and lets those of later ones", async () => {
    const { engine } = testEngine({ learner: learner() });
    const before = await engine.rank(request({ aliases: ["before"] }));
    await engine.end(before.episode);
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await engine.report("before", { reward: false, harmful: ["d0"] });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect(await knowledgeOf(engine, "d1")).toBeDefined();
    await oneRun(engine, request(), { reward: true });
    expect(await knowledgeOf(engine, "d0")).toBeDefined();
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps corrections of earlier episodes from reaching it", async () => {
    const { engine } = testEngine({ learner: learner() });
    const before = await engine.rank(request());
    await engine.end(before.episode, { reward: true, tier: "completed" });
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await oneRun(engine, request(), { reward: true });
    const known = await knowledgeOf(engine, "d0");
    await engine.report(before.episode, { reward: false, tier: "verified" });
    expect(await knowledgeOf(engine, "d0")).toEqual(known);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});

describe("forgetting ids", () => {
  it("takes them out of open episodes too", async () => {
    const { engine, episode } = await testEpisode();
    const other = await engine.rank(request({ namespace: "other" }));
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await expect(engine.end(episode, { reward: true, helpful: ["d9"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
    await engine.end(episode, { reward: true, helpful: ["d0"], used: ["m1", "d1"] });
    await engine.end(other.episode, { reward: true });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect((await exportState(engine, { namespace: "other" })).memories).toHaveLength(3);
  });

  it("leaves one that an open episode showed explained as dropped, not as outranked", async () => {
    const { engine, episode } = await testEpisode();
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await engine.end(episode, { reward: true });
    const [exposure] = (await engine.explain(episode))?.exposures ?? [];
    expect(exposure?.items.map(({ id, rank }) => [id, rank])).toEqual([
      ["d1", 2],
      ["d2", 3],
    ]);
    expect(exposure?.notShown[0]).toMatchObject({ id: "d0", rank: 1, reason: "dropped" });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
  });

  it("touches one collection only, and ids that were never shown do no harm", async () => {
    const { engine } = testEngine();
    for (const collection of ["a", "b"]) {
      await engine.end((await engine.rank(request({ collection }))).episode, { reward: true });
    }
    await forget(engine, { namespace: "default", collection: "a", ids: ["d0", "never shown"] });
    expect((await exportState(engine, { collection: "a" })).memories.map(({ id }) => id)).toEqual(["d1", "d2"]);
    expect((await exportState(engine, { collection: "b" })).memories.map(({ id }) => id)).toEqual(["d0", "d1", "d2"]);
    await forget(engine, { namespace: "default", ids: [] });
    expect(await replay(engine)).toMatchObject({ identical: true });
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
    await forget(engine, { namespace: "gone" });
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

  it.each([
    ["ids that are undefined", { ids: undefined }],
    ["a collection without ids", { collection: "lessons" }],
    ["a collection that is undefined", { collection: undefined }],
    ["a misspelt option", { id: ["d0"] }],
  ])("is not what %s asks for: nothing is erased", async (_what, options) => {
    const { engine } = testEngine();
    await engine.end((await engine.rank(request())).episode, { reward: true });
    const forgetting = forget(engine, { namespace: "default", ...options } as never);
    await expect(forgetting).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await engine.status()).toMatchObject({ taught: 1 });
  });

  it("lets an outcome that is under way for it fall into nothing, without harm", async () => {
    const { engine, episode } = await testEpisode({ aliases: ["run"] });
    await engine.end(episode);
    await forget(engine, { namespace: "default" });
    await expect(engine.report("run", { reward: true })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    expect(await engine.status()).toMatchObject({ seq: 0, taught: 0 });
  });
});

describe("forgetting what has not reached the store yet", () => {
  const away = (): ReturnType<typeof testEngine> & ReturnType<typeof faultyStore> & { outbox: MemoryOutbox } => {
    const outbox = memoryOutbox();
    const faulty = faultyStore();
    return { outbox, ...faulty, ...testEngine({ store: withOutbox(faulty.store, outbox) }) };
  };

  it("drops what waits in the outbox for an erased namespace, and leaves the others waiting", async () => {
    const { engine, faults, inner, outbox } = away();
    faults.commit = "before";
    for (const namespace of ["gone", "kept"]) {
      const { episode } = await engine.rank(request({ namespace }));
      expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "queued" });
    }
    faults.commit = "none";
    await forget(engine, { namespace: "gone" });
    expect(outbox.waiting.map(({ namespace }) => namespace)).toEqual(["kept"]);
    await engine.flush();
    expect(await snapshot(inner, "gone")).toEqual({ head: 0, states: {} });
    expect((await engine.status({ namespace: "kept" })).taught).toBe(1);
    expect(engine.health().queued).toBe(0);
  });

  it("passes on what waits in the outbox before it forgets ids, or refuses", async () => {
    const { engine, faults, clock } = away();
    faults.commit = "before";
    await engine.end((await engine.rank(request())).episode, { reward: true });
    await expect(forget(engine, { namespace: "default", ids: ["d0"] })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("1 commits of namespace default wait in the outbox"),
    });
    faults.commit = "none";
    clock.now += MINUTE;
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await engine.flush();
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect(await knowledgeOf(engine, "d1")).toBeDefined();
  });

  it("records first what could not be sent before", async () => {
    const { store, faults } = faultyStore();
    const { engine, episode } = await testEpisode({}, { store });
    faults.commit = "before";
    await expect(engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(forget(engine, { namespace: "default", ids: ["d0"] })).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    await forget(engine, { namespace: "default", ids: ["d0"] });
    await engine.end(episode, { reward: true });
    expect(await knowledgeOf(engine, "d0")).toBeUndefined();
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("waits for what is being recorded", async () => {
    const { store, hold, release } = heldStore("commit");
    const { engine, episode } = await testEpisode({}, { store });
    hold();
    const ending = engine.end(episode, { reward: true });
    const forgetting = forget(engine, { namespace: "default" });
    await turn();
    release();
    await Promise.all([ending, forgetting]);
    expect(await snapshot(store, "default")).toEqual({ head: 0, states: {} });
  });
});
