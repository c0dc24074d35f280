import { describe, expect, it } from "vitest";
import { type Engine, memoryStore, type Store, similarity } from "../src/index.js";
import { compact, comparePolicies, type Progress, repair, replay, revoke, verify } from "../src/maintenance/index.js";
import { faultyStore } from "./support/faulty-store.js";
import { oneRun, request, testEngine } from "./support/test-engine.js";
import { writeStates } from "./support/write-states.js";

async function taught(store: Store, namespaces: readonly string[]): Promise<ReturnType<typeof testEngine>> {
  const world = testEngine({ store });
  for (const namespace of namespaces) await oneRun(world.engine, request({ namespace }), { reward: true });
  return world;
}

describe("verifying", () => {
  it("finds an untouched store in order", async () => {
    const world = await taught(memoryStore(), ["a", "b"]);
    expect(await verify(world.engine)).toEqual({
      ok: true,
      namespaces: 2,
      entries: 4,
      damaged: 0,
      damage: [],
      differing: [],
      unchecked: [],
    });
    expect(world.logs).toEqual([]);
  });

  it("names states that do not follow from the ledger, and repairing builds them again", async () => {
    const store = memoryStore();
    const world = await taught(store, ["a", "b", "c"]);
    await writeStates(store, "b", [{ scope: "memory:default", id: "d0", value: Uint8Array.of(1, 2, 3) }]);
    const report = await verify(world.engine);
    expect(report).toMatchObject({ ok: false, differing: [{ namespace: "b" }], unchecked: [] });
    expect(report.differing[0]?.states).toContain("memory:default/d0");
    expect(world.logs.at(-1)).toMatchObject({ level: "error", fields: { code: "VERIFY_FAILED", differing: 1 } });
    expect(await verify(world.engine, { namespace: "a" })).toMatchObject({ ok: true, namespaces: 1 });
    expect(await repair(world.engine)).toMatchObject({ rebuilt: ["b"], after: { ok: true, namespaces: 3 } });
    expect(await repair(world.engine)).toMatchObject({ rebuilt: [], after: { ok: true } });
  });

  it("does not take another learner's states for damage, and leaves them alone", async () => {
    const store = memoryStore();
    await taught(store, ["a"]);
    const other = testEngine({ store, learner: similarity(), prefix: "other" });
    const before = await store.scanStates("a", "memory:default", { limit: 100 });
    expect(await verify(other.engine)).toMatchObject({
      ok: false,
      unchecked: [{ namespace: "a", reason: "LEARNER_MISMATCH" }],
    });
    expect(other.logs).toMatchObject([
      { level: "warn", message: "Not all of the ledger could be checked.", fields: { code: "VERIFY_FAILED" } },
    ]);
    expect(await repair(other.engine)).toMatchObject({ rebuilt: [] });
    expect(await store.scanStates("a", "memory:default", { limit: 100 })).toEqual(before);
  });

  it("does not take a ledger that cannot be read for one that can be repaired", async () => {
    const inner = memoryStore();
    const world = await taught(inner, ["a"]);
    const store: Store = {
      ...inner,
      readEntries: async (...call) =>
        (await inner.readEntries(...call)).map((entry) => ({ ...entry, payload: entry.payload.slice(0, 3) })),
    };
    const broken = testEngine({ store, prefix: "broken" });
    expect(await repair(broken.engine)).toMatchObject({
      rebuilt: [],
      after: { ok: false, unchecked: [{ namespace: "a", reason: "INVALID_STATE" }] },
    });
    expect(await verify(world.engine)).toMatchObject({ ok: true });
  });

  it("rejects when the store cannot be reached: that is no damage", async () => {
    const { store, faults } = faultyStore();
    const world = testEngine({ store: { ...store, namespaces: async () => Promise.reject(new Error("refused")) } });
    await expect(verify(world.engine)).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
  });
});

describe("maintenance", () => {
  it("works on a copy of an engine, as a wrapper makes one", async () => {
    const { engine } = testEngine();
    expect(await verify({ ...engine })).toMatchObject({ ok: true });
  });

  it("refuses an object that createEngine() did not make", async () => {
    await expect(verify({} as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("the progress of long work", () => {
  const long = async (): Promise<ReturnType<typeof testEngine>> => {
    const world = testEngine();
    for (let run = 0; run < 120; run++) await oneRun(world.engine, request(), { reward: true, source: "liar" });
    world.clock.now += 1_000;
    return world;
  };
  const namespace = "default";

  it.each<readonly [string, (engine: Engine, progress: Progress) => Promise<unknown>, number]>([
    ["verify", (engine, progress) => verify(engine, { progress }), 240],
    ["repair", (engine, progress) => repair(engine, { progress }), 240],
    ["replay", (engine, progress) => replay(engine, { write: true, progress }), 240],
    ["revoke", (engine, progress) => revoke(engine, { namespace, source: "liar", progress }), 241],
    ["compact", (engine, progress) => compact(engine, { namespace, olderThan: 0, progress }), 240],
    ["comparePolicies", (engine, progress) => comparePolicies(engine, { learner: similarity(), progress }), 240],
  ])("%s", async (_, work, total) => {
    const { engine } = await long();
    const calls: (readonly [number, number])[] = [];
    await work(engine, (...call) => void calls.push(call));
    // A revocation looks for its outcomes first.
    if (total === 241) expect(calls.shift()).toEqual([240, 240]);
    expect(calls.slice(0, 3)).toEqual([
      [100, total],
      [200, total],
      [total, total],
    ]);
    await expect(work(engine, "yes" as unknown as Progress)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("of several namespaces is that of all, and after a compaction that of what is left", async () => {
    const world = await taught(memoryStore(), ["a", "b"]);
    const { episode } = await world.engine.rank(request({ namespace: "b" }));
    world.clock.now += 1_000;
    await compact(world.engine, { namespace: "b", olderThan: 1 });
    await world.engine.end(episode, { reward: true });
    const calls: (readonly [number, number])[] = [];
    await verify(world.engine, { progress: (...call) => void calls.push(call) });
    expect(calls).toEqual([
      [2, 2],
      [4, 4],
    ]);
  });
});
