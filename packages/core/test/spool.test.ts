import { describe, expect, it, vi } from "vitest";
import { type EngineOptions, memoryStore, QavrError, similarity, type WaitingCommit } from "../src/index.js";
import { faultyStore } from "./support/faulty-store.js";
import { handTimer } from "./support/hand-timer.js";
import { memorySpool } from "./support/memory-spool.js";
import { request, snapshot, testEngine } from "./support/test-engine.js";

function spooling(options: Partial<EngineOptions> & { readonly cap?: number } = {}) {
  const { cap, ...engineOptions } = options;
  const spool = memorySpool(cap);
  const faulty = faultyStore();
  return { spool, ...faulty, ...testEngine({ store: faulty.store, spool, ...engineOptions }) };
}

/** Ends `count` runs with an outcome each. */
async function runs({ engine }: Pick<ReturnType<typeof testEngine>, "engine">, count: number): Promise<string[]> {
  const statuses: string[] = [];
  for (let run = 0; run < count; run++) {
    const { episode } = await engine.rank(request());
    const receipt = await engine.end(episode, { reward: run % 2 === 0, idempotencyKey: `run-${run}` });
    statuses.push(receipt?.status as string);
  }
  return statuses;
}

describe("an outcome while the store is out of reach", () => {
  it("is acknowledged from the spool, and is in the store exactly once and in order when that is back", async () => {
    const world = spooling();
    const { engine, spool, faults, clock, logs } = world;
    faults.commit = "before";
    expect(await runs(world, 10)).toEqual(Array(10).fill("spooled"));
    expect(spool.waiting).toHaveLength(10);
    expect(engine.health()).toMatchObject({ spooled: 10, writesSuspended: true, openEpisodes: 0, rejected: 0 });
    expect(logs.find(({ fields }) => fields.code === "OUTCOME_SPOOLED")).toMatchObject({
      level: "warn",
      fields: { reason: "STORE_FAILED", waiting: 1 },
    });
    faults.commit = "none";
    clock.now += 4_000;
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toEqual({ status: "committed", episode, seq: 22 });
    expect([spool.waiting.length, engine.health().spooled]).toEqual([0, 0]);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 11 }, taught: 11 });
    expect(await engine.replay()).toMatchObject({ identical: true, entries: 22 });
    expect(logs.find(({ fields }) => fields.code === "SPOOL_DRAINED")).toMatchObject({ fields: { commits: 10 } });
  });

  it("can be corrected as soon as the store is back, and is not called unknown before", async () => {
    const { engine, faults, clock } = spooling();
    faults.commit = "before";
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "spooled" });
    await expect(engine.report(episode, { reward: false })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("wait in the spool"),
    });
    faults.commit = "none";
    clock.now += 4_000;
    expect(await engine.report(episode, { reward: false })).toMatchObject({ status: "committed" });
    expect((await engine.explain(episode))?.outcome).toMatchObject({ reward: 0 });
    await expect(engine.report("never heard of", { reward: false })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });

  it("whose answer was lost is not counted twice by the spool", async () => {
    const world = spooling();
    world.faults.commit = "after";
    await runs(world, 3);
    world.faults.commit = "none";
    await world.engine.flush();
    expect(await world.engine.status()).toMatchObject({ outcomes: { user: 3 }, corrections: 0, seq: 6 });
  });

  it("gives the same state as if the store had never been away", async () => {
    const shown = async ({ engine }: Pick<ReturnType<typeof testEngine>, "engine">): Promise<void> => {
      const { episode } = await engine.rank(request({ keepOrder: true }));
      await engine.end(episode, { reward: episode.length % 2 === 0, source: "ann" });
    };
    const [away, plain] = [spooling(), testEngine({ store: memoryStore() })];
    for (let run = 0; run < 12; run++) {
      away.faults.commit = run < 5 ? "none" : "before";
      await shown(away);
      await shown(plain);
    }
    away.faults.commit = "none";
    away.clock.now += 4_000;
    await away.engine.flush();
    expect(await snapshot(away.inner)).toEqual(await snapshot(plain.store));
    expect(await away.engine.replay()).toMatchObject({ identical: true });
  });

  it("that the spool has kept although it never said so is passed on all the same, once", async () => {
    const world = spooling();
    const { engine, spool, faults, clock } = world;
    await runs(world, 1);
    faults.commit = "before";
    const { append } = spool;
    spool.append = async (commit) => {
      await append(commit);
      throw new Error("the answer was lost");
    };
    const { episode } = await engine.rank(request());
    const outcome = { reward: true, idempotencyKey: "lost" };
    await expect(engine.end(episode, outcome)).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    clock.now += 4_000;
    await engine.flush();
    expect(spool.waiting).toEqual([]);
    expect(await engine.end(episode, outcome)).toMatchObject({ status: "duplicate" });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 2 } });
  });

  it("that comes while the spool is being counted is not forgotten", async () => {
    const world = spooling();
    const { engine, spool, faults, clock } = world;
    faults.commit = "before";
    await runs(world, 5);
    faults.commit = "none";
    const { size } = spool;
    const counting = Promise.withResolvers<void>();
    const counted = Promise.withResolvers<void>();
    spool.size = async () => {
      const found = await size();
      counting.resolve();
      await counted.promise;
      return found;
    };
    const flushing = engine.flush();
    await counting.promise;
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "spooled" });
    counted.resolve();
    await flushing;
    clock.now += 4_000;
    await engine.flush();
    expect(spool.waiting).toEqual([]);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 6 } });
  });

  it("beyond the spool's cap is refused and counted, and can be said again later", async () => {
    const world = spooling({ cap: 3 });
    world.faults.commit = "before";
    await runs(world, 3);
    const { episode } = await world.engine.rank(request());
    await expect(world.engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "SPOOL_FULL" });
    expect(world.engine.health()).toMatchObject({ spooled: 3, rejected: 1, openEpisodes: 1 });
    world.faults.commit = "none";
    world.clock.now += 4_000;
    expect(await world.engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await world.engine.status()).toMatchObject({ outcomes: { user: 4 } });
  });

  it("about a recorded episode is spooled as long as the episode can be read, and refused when it cannot", async () => {
    const world = spooling();
    const { episode } = await world.engine.rank(request());
    await world.engine.end(episode);
    world.faults.commit = "before";
    expect(await world.engine.report(episode, { reward: true })).toEqual({ status: "spooled", episode, seq: 0 });
    world.faults.readStates = "before";
    await expect(world.engine.report(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    world.faults.commit = "none";
    world.faults.readStates = "none";
    await world.engine.flush();
    expect(await world.engine.explain(episode)).toMatchObject({ outcome: { reward: 1 } });
  });

  it("waits for nobody once the store is known to be away", async () => {
    const world = spooling();
    let calls = 0;
    const { commit } = world.inner;
    world.inner.commit = (...call) => {
      calls += 1;
      return commit(...call);
    };
    world.faults.commit = "after";
    await runs(world, 50);
    expect(calls).toBe(5);
  });

  it("that the store refuses for good stays in the spool, is said so once, and holds nobody up", async () => {
    const world = spooling();
    const { engine, spool, logs } = world;
    world.faults.commit = "before";
    await runs(world, 2);
    const mine = await engine.rank(request({ namespace: "taken" }));
    await engine.end(mine.episode, { reward: true });
    // An engine with another learner begins the namespace meanwhile.
    const other = testEngine({ store: world.inner, learner: similarity(), prefix: "other" });
    const { episode } = await other.engine.rank(request({ namespace: "taken" }));
    await other.engine.end(episode, { reward: true });
    world.faults.commit = "none";
    world.clock.now += 4_000;
    await engine.flush();
    expect(spool.waiting.map(({ namespace }) => namespace)).toEqual(["taken"]);
    const { episode: next } = await engine.rank(request());
    expect(await engine.end(next, { reward: true })).toMatchObject({ status: "committed", seq: 6 });
    expect(engine.health().spooled).toBe(1);
    expect(logs.filter(({ fields }) => fields.code === "SPOOL_REFUSED")).toMatchObject([
      { level: "error", fields: { namespace: "taken", reason: "LEARNER_MISMATCH" } },
    ]);
  });

  it("that meets damage in the store stays in the spool, and holds nobody up", async () => {
    const world = spooling();
    const { engine, spool, logs, clock, inner } = world;
    world.faults.commit = "before";
    await runs(world, 3);
    const { commit } = inner;
    inner.commit = async (namespace, entries, reduce) => {
      if (entries.some(({ key }) => key.includes("run-1"))) throw new QavrError("STORE_CORRUPT", "Entry 7 is damaged.");
      return commit(namespace, entries, reduce);
    };
    world.faults.commit = "none";
    clock.now += 4_000;
    await engine.flush();
    expect(spool.waiting).toHaveLength(1);
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 3 } });
    expect(logs.filter(({ fields }) => fields.code === "SPOOL_REFUSED")).toMatchObject([
      { level: "error", fields: { reason: "STORE_CORRUPT" } },
    ]);
  });

  it("about a damaged namespace waits until that is repaired, and those about others need not", async () => {
    const world = spooling();
    const { engine, spool, inner, logs } = world;
    const { commit } = inner;
    inner.commit = async (namespace, entries, reduce) => {
      if (namespace === "damaged") throw new QavrError("STORE_CORRUPT", "Entry 7 is damaged.");
      return commit(namespace, entries, reduce);
    };
    for (let run = 0; run < 8; run++) {
      const { episode } = await engine.rank(request({ namespace: "damaged" }));
      expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "spooled" });
    }
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(engine.health()).toMatchObject({ writesSuspended: false, spooled: 8 });
    expect(new Set(spool.waiting.map(({ namespace }) => namespace))).toEqual(new Set(["damaged"]));
    expect(logs.find(({ fields }) => fields.code === "OUTCOME_SPOOLED")?.message).not.toContain("out of reach");
    await engine.flush();
    inner.commit = commit;
    await engine.flush();
    expect(spool.waiting).toHaveLength(8);
    expect(await engine.repair()).toMatchObject({ after: { ok: true } });
    expect(spool.waiting).toEqual([]);
    expect(await engine.status({ namespace: "damaged" })).toMatchObject({ taught: 8 });
  });

  it("that was damaged in the spool stays there, is said so once, and holds nobody up", async () => {
    const world = spooling();
    const { engine, spool, logs, clock } = world;
    world.faults.commit = "before";
    await runs(world, 3);
    const [first, second, third] = spool.waiting as [WaitingCommit, WaitingCommit, WaitingCommit];
    spool.waiting.splice(0, 3, first, { ...second, entries: [], damage: "a bit has flipped" }, third);
    world.faults.commit = "none";
    clock.now += 4_000;
    await engine.flush();
    expect(spool.waiting.map(({ id }) => id)).toEqual([second.id]);
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 3 } });
    expect(engine.health().spooled).toBe(1);
    expect(logs.filter(({ fields }) => fields.code === "SPOOL_FAILED")).toMatchObject([
      { level: "error", fields: { reason: "STORE_CORRUPT", commit: second.id } },
    ]);
    // It never gets there, so it brings nothing back: ids can be forgotten. Erasing its namespace drops it.
    await engine.forget({ namespace: "default", ids: ["d0"] });
    expect(spool.waiting).toHaveLength(1);
    await engine.forget({ namespace: "default" });
    expect(spool.waiting).toEqual([]);
  });

  it("whose key was taken meanwhile is dropped, and said so", async () => {
    const world = spooling();
    const { episode } = await world.engine.rank(request());
    await world.engine.end(episode);
    world.faults.commit = "before";
    await world.engine.report(episode, { reward: true, idempotencyKey: "k" });
    const other = testEngine({ store: world.inner, prefix: "other" });
    await other.engine.report(episode, { reward: false, idempotencyKey: "k" });
    world.faults.commit = "none";
    await world.engine.flush();
    expect(world.spool.waiting).toEqual([]);
    expect(world.logs.at(-2)).toMatchObject({
      level: "error",
      fields: { code: "SPOOL_REFUSED", reason: "IDEMPOTENCY_CONFLICT", key: "outcome:key:k" },
    });
  });

  it("that an earlier process left in the spool is passed on by the next one", async () => {
    const world = spooling();
    world.faults.commit = "before";
    await runs(world, 2);
    const heir = testEngine({ store: world.inner, spool: world.spool, prefix: "heir" });
    await heir.engine.flush();
    expect(world.spool.waiting).toEqual([]);
    expect(await heir.engine.status()).toMatchObject({ outcomes: { user: 2 } });
  });
});

describe("close", () => {
  it("passes on what waits in the spool", async () => {
    const faulty = faultyStore();
    const store = { ...faulty.store, close: async () => undefined };
    const world = testEngine({ store, spool: memorySpool() });
    faulty.faults.commit = "before";
    expect(await runs(world, 1)).toEqual(["spooled"]);
    faulty.faults.commit = "none";
    await world.engine.close();
    expect(await faulty.inner.head("default")).toBe(2);
  });
});

describe("a spool that fails", () => {
  it("keeps no outcome from a store that works", async () => {
    const world = spooling();
    world.spool.failure = new Error("bad sector");
    expect(await runs(world, 2)).toEqual(["committed", "committed"]);
    expect(world.logs.find(({ fields }) => fields.code === "SPOOL_FAILED")).toMatchObject({ level: "error" });
  });

  it("makes an outcome fail that neither can take, and the retry counts once", async () => {
    const world = spooling();
    world.spool.failure = new Error("bad sector");
    world.faults.commit = "before";
    const { episode } = await world.engine.rank(request());
    await expect(world.engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    const before = await snapshot(world.inner);
    expect(before).toMatchObject({ head: 0 });
    world.faults.commit = "none";
    expect(await world.engine.end(episode, { reward: true })).toMatchObject({ status: "committed", seq: 2 });
  });

  it("to say how many wait is asked again: what waits is not forgotten", async () => {
    const world = spooling();
    world.faults.commit = "before";
    await runs(world, 2);
    world.spool.failure = new Error("bad sector");
    world.faults.commit = "none";
    world.clock.now += 4_000;
    await runs(world, 1);
    world.spool.failure = undefined;
    await world.engine.flush();
    expect(world.spool.waiting).toEqual([]);
    expect(world.engine.health().spooled).toBe(0);
  });

  it("is asked by flush() also while the store is in its pause", async () => {
    const world = spooling();
    world.faults.commit = "before";
    await runs(world, 8);
    world.faults.commit = "none";
    expect(world.engine.health().writesSuspended).toBe(true);
    await world.engine.flush();
    expect([world.spool.waiting.length, world.engine.health().writesSuspended]).toEqual([0, false]);
  });

  it("by never answering does not keep an episode closing for ever", async () => {
    const timer = handTimer();
    const world = spooling({ setTimer: timer.setTimer });
    world.faults.commit = "before";
    const { episode } = await world.engine.rank(request());
    const silent = vi.spyOn(world.spool, "append").mockReturnValue(new Promise(() => undefined));
    const ending = world.engine.end(episode, { reward: true });
    const refused = expect(ending).rejects.toMatchObject({ code: "STORE_TIMEOUT", details: { store: "memory spool" } });
    await timer.advance(10_001);
    await refused;
    silent.mockRestore();
    expect(await world.engine.end(episode, { reward: true })).toMatchObject({ status: "spooled" });
  });

  it("is no spool without its methods", () => {
    expect(() => testEngine({ spool: {} as never })).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining("spool") }),
    );
  });
});

describe("parking while the store is out of reach", () => {
  it("is refused: nobody could resume from the spool", async () => {
    const world = spooling();
    const { episode } = await world.engine.rank(request());
    world.faults.commit = "before";
    await expect(world.engine.park(episode, { alias: "thread" })).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(world.spool.waiting).toEqual([]);
  });
});
