import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import { memoryStore, qValue, type Store, similarity } from "../src/index.js";
import { compact, comparePolicies, exportState, repair, replay, revoke } from "../src/maintenance/index.js";
import { DAY, oneRun, request, snapshot, testEngine } from "./support/test-engine.js";
import { writeStates } from "./support/write-states.js";

type World = ReturnType<typeof testEngine>;

/** Ends one run a day, from the first day on. */
async function days({ engine, clock }: World, from: number, to: number): Promise<void> {
  for (let day = from; day < to; day++) {
    clock.now += DAY;
    const { episode } = await engine.rank(
      request({ keepOrder: true, aliases: [`run-${day}`], vector: [Math.sin(day), 1, 0, day % 3] }),
    );
    await engine.end(episode, {
      reward: day % 2 === 0,
      source: day % 3 === 0 ? "ann" : "bob",
      idempotencyKey: `run-${day}`,
    });
  }
}

const visiting = { governance: governance({ trust: "audited" }), outcomeWindow: 5 * DAY };

/** Ends one run a day: claims of one source and verdicts by turns. */
async function claims({ engine, clock }: World, count: number): Promise<void> {
  for (let day = 0; day < count; day++) {
    clock.now += DAY;
    const { episode } = await engine.rank(request({ keepOrder: true }));
    if (day % 2 === 0) await engine.end(episode, { reward: true, tier: "verified", source: "checker" });
    else {
      await engine.end(episode, { reward: day % 4 === 1, source: "ann" });
      if (day % 8 === 1) await engine.report(episode, { reward: true, tier: "verified", source: "checker" });
    }
  }
}

async function learnedIn({ store, engine }: World): Promise<unknown> {
  return {
    exported: await exportState(engine),
    memories: await store.scanStates("default", "memory:default", { limit: 10_000 }),
  };
}

/** Compacts everything there is. */
function compactAll({ engine, clock }: World): ReturnType<typeof compact> {
  clock.now += 1;
  return compact(engine, { namespace: "default", olderThan: 0 });
}

describe("compacting a ledger", () => {
  it("drops what is older than the window and keeps what was learned, bit for bit", async () => {
    const world = testEngine();
    await days(world, 0, 100);
    const before = await learnedIn(world);
    const report = await compact(world.engine, { namespace: "default" });
    // Two entries a day; the last thirty days stay, and so do records for thirty days more.
    expect(report).toEqual({ namespace: "default", checkpoint: 138, dropped: 138, entries: 62, episodes: 39 });
    expect(await learnedIn(world)).toEqual(before);
    expect(await replay(world.engine)).toMatchObject({ identical: true, checkpoint: 138, entries: 200 });
    expect(await world.engine.status()).toMatchObject({ seq: 200, checkpoint: 138, taught: 100 });
    expect(world.logs.at(-1)).toMatchObject({ level: "info", fields: { code: "LEDGER_COMPACTED", dropped: 138 } });
  });

  it("is not kept up by entries of a clock that ran ahead for a while", async () => {
    const world = testEngine();
    await days(world, 0, 10);
    world.clock.now += 3_650 * DAY;
    await days(world, 10, 11);
    world.clock.now -= 3_650 * DAY;
    await days(world, 11, 100);
    const before = await learnedIn(world);
    expect(await compact(world.engine, { namespace: "default" })).toMatchObject({ checkpoint: 138, dropped: 138 });
    expect(await learnedIn(world)).toEqual(before);
    expect(await replay(world.engine)).toMatchObject({ identical: true, checkpoint: 138 });
  });

  it("goes on as if it had not been: the next outcomes lead to the same states", async () => {
    const [plain, compacted] = [testEngine(), testEngine()];
    for (const world of [plain, compacted]) await days(world, 0, 40);
    await compact(compacted.engine, { namespace: "default", olderThan: 5 * DAY });
    for (const world of [plain, compacted]) await days(world, 40, 60);
    await compact(compacted.engine, { namespace: "default", olderThan: 5 * DAY });
    expect(await learnedIn(compacted)).toEqual(await learnedIn(plain));
    expect(await replay(compacted.engine)).toMatchObject({ identical: true, checkpoint: 108 });
  });

  it("keeps every key taken, and answers as before", async () => {
    const world = testEngine();
    await days(world, 0, 10);
    const first = await world.engine.report("run-2", { reward: true, idempotencyKey: "late" });
    await compactAll(world);
    expect(await world.store.readEntries("default", { limit: 10 })).toEqual([]);
    expect(await world.engine.report("run-2", { reward: true, idempotencyKey: "late" })).toEqual({
      ...first,
      status: "duplicate",
    });
    await expect(world.engine.report("run-2", { reward: false, idempotencyKey: "late" })).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
    });
    expect(await world.engine.report("run-2", { reward: false })).toMatchObject({ status: "committed", seq: 22 });
  });

  it("lets revocation reach back to the checkpoint, and says so beyond it", async () => {
    const [plain, compacted] = [testEngine(), testEngine()];
    for (const world of [plain, compacted]) await days(world, 0, 30);
    await compact(compacted.engine, { namespace: "default", olderThan: 10 * DAY });
    const all = await revoke(plain.engine, { namespace: "default", source: "ann", dryRun: true });
    const rest = await revoke(compacted.engine, { namespace: "default", source: "ann", dryRun: true });
    expect([all.checkpoint, all.outcomes]).toEqual([0, 10]);
    expect([rest.checkpoint, rest.outcomes]).toEqual([38, 3]);
    await revoke(compacted.engine, { namespace: "default", source: "ann" });
    await revoke(plain.engine, { namespace: "default", source: "ann", fromSeq: 39 });
    expect(await learnedIn(compacted)).toEqual(await learnedIn(plain));
    expect(await replay(compacted.engine)).toMatchObject({ identical: true });
  });

  it("leaves nothing to revoke where it dropped all", async () => {
    const world = testEngine();
    await days(world, 0, 3);
    await compactAll(world);
    expect(await revoke(world.engine, { namespace: "default", source: "ann" })).toMatchObject({ outcomes: 0 });
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("keeps the effect of a revocation that came before it", async () => {
    const world = testEngine();
    await days(world, 0, 20);
    await revoke(world.engine, { namespace: "default", source: "ann" });
    const before = await learnedIn(world);
    await compact(world.engine, { namespace: "default", olderThan: 10 * DAY });
    expect(await learnedIn(world)).toEqual(before);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("leaves nothing to ask another learner about before the checkpoint, and says so", async () => {
    const world = testEngine();
    await days(world, 0, 30);
    await compact(world.engine, { namespace: "default", olderThan: 10 * DAY });
    expect(await comparePolicies(world.engine, { learner: qValue() as never })).toMatchObject({
      checkpoint: 38,
      episodes: 11,
    });
    const changed = testEngine({ store: world.store, learner: similarity(), prefix: "changed" });
    expect(await replay(changed.engine, { write: true })).toMatchObject({ written: true, checkpoint: 38 });
    expect(await replay(changed.engine)).toMatchObject({ identical: true });
  });

  it("says of an episode before the checkpoint that what it showed is gone", async () => {
    const world = testEngine();
    await days(world, 0, 10);
    await compact(world.engine, { namespace: "default", olderThan: 3 * DAY });
    expect(await world.engine.explain("run-1")).toMatchObject({
      compacted: true,
      exposures: [],
      outcome: { reward: 0 },
    });
    const young = await world.engine.explain("run-9");
    expect(young?.exposures).toHaveLength(1);
    expect(young).not.toHaveProperty("compacted");
  });

  it("keeps suspended episodes and those that learners visit again, and lets the others go when nothing can come to them", async () => {
    const world = testEngine({ outcomeWindow: 10 * DAY });
    const { episode } = await world.engine.rank(request());
    await world.engine.suspend(episode, { alias: "thread" });
    await days(world, 0, 60);
    await compact(world.engine, { namespace: "default", olderThan: 10 * DAY });
    const kept = (await world.store.scanStates("default", "episode", { limit: 10_000 })).map(({ id }) => id);
    expect(kept).toContain(episode);
    expect(await world.store.readStates("default", "alias", ["thread", "run-0", "run-59"])).toEqual([
      expect.anything(),
      undefined,
      expect.anything(),
    ]);
    expect(await world.engine.status()).toMatchObject({ episodes: { suspended: 1 } });
  });

  it("keeps what is visited again: the next outcomes teach the same as if nothing had been dropped", async () => {
    const [plain, compacted] = [testEngine(visiting), testEngine(visiting)];
    for (const world of [plain, compacted]) await claims(world, 40);
    const report = await compact(compacted.engine, { namespace: "default", olderThan: 5 * DAY });
    // Claims are weighed again, verdicts are not.
    expect(report).toMatchObject({ dropped: 73, episodes: 15 });
    for (const world of [plain, compacted]) await claims(world, 20);
    expect(await learnedIn(compacted)).toEqual(await learnedIn(plain));
    expect(await replay(compacted.engine)).toMatchObject({ identical: true });
  });

  it("may come between two pages of a replay, which begins again at the new checkpoint", async () => {
    const inner = memoryStore();
    const world = testEngine({ store: inner });
    await days(world, 0, 20);
    let isFirst = true;
    const store: Store = {
      ...inner,
      async readEntries(...call) {
        if (isFirst) {
          isFirst = false;
          await compactAll(world);
          await days(world, 20, 22);
        }
        return inner.readEntries(...call);
      },
    };
    const replaying = testEngine({ store, prefix: "replaying" });
    expect(await replay(replaying.engine)).toMatchObject({ identical: true, checkpoint: 40, entries: 44 });
  });

  it("keeps the record of an episode to which an outcome came against the clock", async () => {
    const world = testEngine({ outcomeWindow: 10 * DAY });
    await days(world, 0, 1);
    await days(world, 1, 40);
    // A machine whose clock is far behind reports on the first day's run.
    world.clock.now -= 39 * DAY;
    await world.engine.report("run-0", { reward: false });
    world.clock.now += 39 * DAY;
    await days(world, 40, 41);
    const before = await learnedIn(world);
    expect(await compact(world.engine, { namespace: "default", olderThan: 10 * DAY })).toMatchObject({ episodes: 0 });
    expect(await learnedIn(world)).toEqual(before);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("does nothing where nothing is old, and on an empty ledger", async () => {
    const world = testEngine();
    expect(await compact(world.engine, { namespace: "default" })).toMatchObject({
      checkpoint: 0,
      dropped: 0,
      entries: 0,
    });
    await days(world, 0, 3);
    const before = await snapshot(world.store);
    expect(await compact(world.engine, { namespace: "default" })).toMatchObject({
      checkpoint: 0,
      dropped: 0,
      entries: 6,
    });
    await compactAll(world);
    expect(await compactAll(world)).toMatchObject({
      checkpoint: 6,
      dropped: 0,
    });
    expect(JSON.stringify(await snapshot(world.store))).toHaveLength(JSON.stringify(before).length);
  });

  it("refuses to drop the ledger of states that do not follow from it", async () => {
    const world = testEngine();
    await days(world, 0, 10);
    await writeStates(world.store, "default", [{ scope: "memory:default", id: "d0", value: null }]);
    const compacting = compactAll(world);
    await expect(compacting).rejects.toMatchObject({ code: "INVALID_STATE" });
    expect(await world.store.readEntries("default", { limit: 100 })).toHaveLength(20);
    await repair(world.engine);
    expect(await compactAll(world)).toMatchObject({ dropped: 20 });
  });

  it("finishes although others write before each of its transactions", async () => {
    const inner = memoryStore();
    const tested = testEngine({ store: inner });
    await days(tested, 0, 10);
    const writer = testEngine({ store: inner, prefix: "writer" });
    writer.clock.now = tested.clock.now;
    const store: Store = {
      ...inner,
      async atHead(...call) {
        await oneRun(writer.engine, request(), { reward: true });
        return inner.atHead(...call);
      },
    };
    const compactor = testEngine({ store, prefix: "compactor" });
    compactor.clock.now = tested.clock.now;
    expect(await compactAll(compactor)).toMatchObject({ dropped: 20 });
    expect(await replay(compactor.engine)).toMatchObject({ identical: true, checkpoint: 20 });
    expect(await replay(tested.engine)).toMatchObject({ identical: true, checkpoint: 20 });
  });

  it("keeps what another compaction has done meanwhile, also one that drops more", async () => {
    const inner = memoryStore();
    const tested = testEngine({ store: inner });
    await days(tested, 0, 10);
    let isFirst = true;
    const store: Store = {
      ...inner,
      async atHead(...call) {
        if (call[1].write && isFirst) {
          isFirst = false;
          await compactAll(tested);
        }
        return inner.atHead(...call);
      },
    };
    const slow = testEngine({ store, prefix: "slow" });
    slow.clock.now = tested.clock.now;
    await compact(slow.engine, { namespace: "default", olderThan: 5 * DAY });
    expect(isFirst).toBe(false);
    expect(await inner.readEntries("default", { limit: 100 })).toEqual([]);
    expect(await replay(tested.engine)).toMatchObject({ identical: true, checkpoint: 20 });
  });

  it("drops a few entries at a time, and between two steps the ledger verifies and says what it said before", async () => {
    const inner = memoryStore();
    const tested = testEngine({ store: inner });
    await days(tested, 0, 300);
    const before = await learnedIn(tested);
    const steps: { readonly dropped: number; readonly written: number; readonly identical: boolean }[] = [];
    let base = 0;
    const store: Store = {
      ...inner,
      async atHead(namespace, given) {
        let written = 0;
        const done = await inner.atHead(namespace, {
          ...given,
          *work(entries, head) {
            const revision = yield* given.work(entries, head);
            written = revision ? revision.states.length + (given.checkpoint?.states.length ?? 0) : 0;
            return revision;
          },
        });
        const { checkpoint, identical } = await replay(tested.engine);
        if (written > 0) steps.push({ dropped: checkpoint - base, written, identical });
        base = checkpoint;
        return done;
      },
    };
    const compactor = testEngine({ store, prefix: "compactor", outcomeWindow: 10 * DAY });
    compactor.clock.now = tested.clock.now;
    expect(await compact(compactor.engine, { namespace: "default", olderThan: 20 * DAY })).toMatchObject({
      dropped: 558,
      episodes: 269,
    });
    expect(steps.length).toBeGreaterThan(5);
    for (const step of steps) expect(step).toMatchObject({ identical: true });
    expect(Math.max(...steps.map(({ dropped }) => dropped))).toBeLessThanOrEqual(100);
    expect(Math.max(...steps.map(({ written }) => written))).toBeLessThanOrEqual(1_000);
    expect(await learnedIn(tested)).toEqual(before);
  });

  it("goes on where one that was cut short had come to", async () => {
    const inner = memoryStore();
    const [plain, tested] = [testEngine(), testEngine({ store: inner })];
    for (const world of [plain, tested]) await days(world, 0, 150);
    let steps = 0;
    const store: Store = {
      ...inner,
      async atHead(namespace, given) {
        if (given.write && ++steps === 2) throw new Error("killed");
        return inner.atHead(namespace, given);
      },
    };
    const killed = testEngine({ store, prefix: "killed" });
    killed.clock.now = tested.clock.now;
    await expect(compact(killed.engine, { namespace: "default", olderThan: 0 })).rejects.toThrow("killed");
    expect(await replay(tested.engine)).toMatchObject({ identical: true, checkpoint: 100 });
    expect(await compactAll(tested)).toMatchObject({ checkpoint: 300, dropped: 200 });
    expect(await learnedIn(tested)).toEqual(await learnedIn(plain));
    expect(await replay(tested.engine)).toMatchObject({ identical: true, checkpoint: 300 });
  });

  it("takes nothing into its checkpoint of what another learner had learned before", async () => {
    const world = testEngine();
    await days(world, 0, 80);
    await compact(world.engine, { namespace: "default", olderThan: 10 * DAY });
    const changed = testEngine({ store: world.store, learner: similarity(), prefix: "changed" });
    await replay(changed.engine, { write: true });
    changed.clock.now = world.clock.now + 1;
    expect(await compactAll(changed)).toMatchObject({ checkpoint: 160 });
    expect(await replay(changed.engine)).toMatchObject({ identical: true, checkpoint: 160 });
  });

  it("refuses wrong options, and stores that cannot", async () => {
    const { engine } = testEngine();
    for (const olderThan of [-1, Number.NaN, "1"]) {
      await expect(compact(engine, { namespace: "default", olderThan: olderThan as number })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    const { readCheckpoint: _, ...plain } = memoryStore();
    await expect(compact(testEngine({ store: plain }).engine, { namespace: "default" })).rejects.toMatchObject({
      code: "UNSUPPORTED",
    });
  });
});
