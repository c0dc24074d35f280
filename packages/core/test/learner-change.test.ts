import { describe, expect, it } from "vitest";
import { type Engine, type Learner, memoryStore, oar, qValue, type Store, similarity } from "../src/index.js";
import { scopesIn } from "../src/ledger/utility-bands.js";
import { compact, copyLearned, exportState, forget, replay, revise } from "../src/maintenance/index.js";
import type { HeadWork, StateWrite } from "../src/store-kit.js";
import { ids, request, snapshot, testEngine } from "./support/test-engine.js";
import { writeStates } from "./support/write-states.js";

describe("an engine with another learner than the stored state's", () => {
  it("ranks in the host's order, says why, and neither reads nor adds to what it cannot understand", async () => {
    const store = memoryStore();
    const before = testEngine({ store, prefix: "before" }).engine;
    for (let run = 0; run < 10; run++) await before.end((await before.rank(request())).episode, { reward: false });
    const states = await snapshot(store);

    const { engine, clock } = testEngine({ store, prefix: "after", learner: qValue() as Learner });
    const ranking = await engine.rank(request());
    expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
    expect(ranking.degraded?.code).toBe("LEARNER_MISMATCH");
    expect(ranking.degraded?.message).toMatch(/oar@2, not q-value@1.*replay\(engine, \{ write: true \}\)/);
    await expect(engine.end(ranking.episode, { reward: true })).rejects.toMatchObject({
      code: "LEARNER_MISMATCH",
      details: { stored: "oar@2", wanted: "q-value@1" },
    });
    await expect(engine.report("before-1", { reward: true })).rejects.toMatchObject({ code: "LEARNER_MISMATCH" });
    await expect(forget(engine, { namespace: "default", ids: ["d0"] })).rejects.toMatchObject({
      code: "LEARNER_MISMATCH",
    });
    clock.now += 1;
    await expect(compact(engine, { namespace: "default", olderThan: 0 })).rejects.toMatchObject({
      code: "LEARNER_MISMATCH",
    });
    expect(await engine.status()).toMatchObject({ learner: "oar@2", taught: 10, collections: [] });
    expect(await snapshot(store)).toEqual(states);
  });

  it("learns the ledger again by replay, and back, bit for bit", async () => {
    const store = memoryStore();
    const first = testEngine({ store, prefix: "first" }).engine;
    for (let run = 0; run < 10; run++) {
      const { episode } = await first.rank(request({ keepOrder: true, aliases: [`run ${run}`] }));
      await first.end(episode, { reward: run % 3 === 0, helpful: run % 4 === 0 ? ["m1"] : [] });
      if (run % 2 === 0) await first.report(`run ${run}`, { reward: false, tier: "verified" });
    }
    const original = await snapshot(store);

    const second = testEngine({ store, prefix: "second", learner: qValue({ warmThreshold: 1 }) as Learner }).engine;
    expect(await replay(second)).toMatchObject({ identical: false, written: false });
    expect(await snapshot(store)).toEqual(original);
    const migrated = await replay(second, { write: true });
    expect(migrated).toMatchObject({ identical: false, written: true, entries: 25 });
    expect(migrated.differences.length).toBeGreaterThan(0);
    expect(await replay(second)).toMatchObject({ identical: true, differences: [] });
    expect(await second.rank(request({ record: false }))).toMatchObject({ learner: "q-value@1", order: "learned" });
    expect(await second.status()).toMatchObject({ learner: "q-value@1", taught: 10, corrections: 5 });
    await expect(second.report("run 1", { reward: true, tier: "verified" })).resolves.toMatchObject({
      status: "committed",
    });

    const third = testEngine({ store, prefix: "third" }).engine;
    await replay(third, { write: true });
    const { engine: never, store: plain } = testEngine({ prefix: "first" });
    for (let run = 0; run < 10; run++) {
      const { episode } = await never.rank(request({ keepOrder: true, aliases: [`run ${run}`] }));
      await never.end(episode, { reward: run % 3 === 0, helpful: run % 4 === 0 ? ["m1"] : [] });
      if (run % 2 === 0) await never.report(`run ${run}`, { reward: false, tier: "verified" });
    }
    await never.report("run 1", { reward: true, tier: "verified" });
    expect(await exportState(third)).toEqual(await exportState(never));
    expect(await store.head("default")).toBe(await plain.head("default"));
  });

  it.each([
    ["forgotten", forget],
    ["revised", revise],
    ["copied", (engine: Engine) => copyLearned(engine, { memories: [{ from: "d9", to: "d0" }] })],
  ])("begins anew also with memories that were %s before they were shown, once compacted", async (_, change) => {
    const store = memoryStore();
    const first = testEngine({ store, prefix: "first" });
    await first.engine.end((await first.engine.rank(request({ collection: "other" }))).episode);
    await change(first.engine, { namespace: "default", ids: ["d0"] });
    first.clock.now += 1;
    await compact(first.engine, { namespace: "default", olderThan: 0 });

    const second = testEngine({ store, prefix: "second", learner: qValue() as Learner }).engine;
    await replay(second, { write: true });
    await second.end((await second.rank(request())).episode, { reward: true });
    expect(await replay(second)).toMatchObject({ identical: true, differences: [] });
  });

  it("can fill a ledger without learning first", async () => {
    const store = memoryStore();
    const quiet = testEngine({ store, prefix: "quiet", learner: similarity() as Learner }).engine;
    for (let run = 0; run < 30; run++) {
      const ranking = await quiet.rank(request());
      expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
      await quiet.end(ranking.episode, { reward: false, harmful: ["d0"] });
    }
    const { engine } = testEngine({ store, prefix: "learning", learner: oar() as Learner });
    await replay(engine, { write: true });
    expect(ids(await engine.rank(request()))).not.toContain("d0");
  });
});

describe("replay", () => {
  it("finds a state that was tampered with, one that is missing and one too many, and repairs them", async () => {
    const store = memoryStore();
    const { engine } = testEngine({ store });
    for (let run = 0; run < 5; run++) await engine.end((await engine.rank(request())).episode, { reward: false });
    const all = [];
    for (const scope of ["episode", "alias", "shared", "stats", ...scopesIn("default")]) {
      for (const state of await store.scanStates("default", scope, { limit: 1_000 })) all.push({ scope, ...state });
    }
    const memory = all.find(({ scope, id }) => scope === "memory:default" && id === "d0") as (typeof all)[number];
    const flipped = Uint8Array.from(memory.value);
    flipped[20] = (flipped[20] as number) ^ 1;
    await writeStates(store, "default", [
      { ...memory, value: flipped },
      { ...memory, id: "d1", value: null },
      { scope: "alias", id: "ghost", value: Uint8Array.of(1) },
    ]);
    const found = await replay(engine);
    expect(found.identical).toBe(false);
    expect([...found.differences].sort()).toEqual(["alias/ghost", "memory:default/d0", "memory:default/d1"]);
    const evidence = async (): Promise<number[]> =>
      (await engine.rank(request({ record: false, topK: 2, keepOrder: true }))).items.map((item) => item.evidence);
    expect((await evidence())[1]).toBe(0);
    expect(await replay(engine, { write: true })).toMatchObject({ written: true });
    expect((await evidence())[1]).toBeGreaterThan(0);
    expect(await replay(engine)).toMatchObject({ identical: true, states: all.length });
  });

  it("mends states although others write before each of its transactions", async () => {
    const inner = memoryStore();
    const writer = testEngine({ store: inner, prefix: "writer" }).engine;
    const run = async (): Promise<unknown> => writer.end((await writer.rank(request())).episode, { reward: true });
    for (let i = 0; i < 5; i++) await run();
    const [damaged] = await inner.scanStates("default", "memory:default", { limit: 1 });
    const missing = { scope: "memory:default", id: damaged?.id as string, value: null };
    await inner.atHead("default", { after: 0, limit: 100, write: true, work: removing(missing) });
    const atHead: Store["atHead"] = async (...call) => {
      await run();
      return inner.atHead(...call);
    };
    const { engine } = testEngine({ store: { ...inner, atHead } });
    expect(await replay(engine)).toMatchObject({ identical: false });
    expect(await replay(engine, { write: true })).toMatchObject({ identical: false, written: true });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("of a namespace that nobody used is identical and empty", async () => {
    const { engine } = testEngine();
    expect(await replay(engine, { namespace: "nobody", write: true })).toEqual({
      namespace: "nobody",
      checkpoint: 0,
      entries: 0,
      states: 0,
      differences: [],
      identical: true,
      written: true,
    });
  });
});

/** Work that removes one state. */
function removing(state: StateWrite): HeadWork["work"] {
  return function* () {
    yield [];
    return { states: [state] };
  };
}
