import { describe, expect, it, vi } from "vitest";
import { memoryStore, QavrError, similarity } from "../src/index.js";
import { forget, repair, replay } from "../src/maintenance/index.js";
import type { WaitingCommit } from "../src/store-kit.js";
import { withOutbox } from "../src/store-kit.js";
import { faultyStore } from "./support/faulty-store.js";
import { handTimer } from "./support/hand-timer.js";
import { memoryOutbox } from "./support/memory-outbox.js";
import { queueing, runs } from "./support/queueing.js";
import { oneRun, request, snapshot, testEngine } from "./support/test-engine.js";

describe("an outcome while the store is out of reach", () => {
  it("is acknowledged from the outbox, and is in the store exactly once and in order when that is back", async () => {
    const world = queueing();
    const { engine, outbox, faults, clock, logs } = world;
    faults.commit = "before";
    expect(await runs(world, 10)).toEqual(Array(10).fill("queued"));
    expect(outbox.waiting).toHaveLength(10);
    expect(engine.health()).toMatchObject({ queued: 10, writeCircuitOpen: true, openEpisodes: 0, rejected: 0 });
    expect(logs.find(({ fields }) => fields.code === "OUTCOME_QUEUED")).toMatchObject({
      level: "warn",
      fields: { reason: "STORE_FAILED", waiting: 1 },
    });
    faults.commit = "none";
    clock.now += 4_000;
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toEqual({ status: "committed", episode, seq: 22 });
    expect([outbox.waiting.length, engine.health().queued]).toEqual([0, 0]);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 11 }, taught: 11 });
    expect(await replay(engine)).toMatchObject({ identical: true, entries: 22 });
    expect(logs.find(({ fields }) => fields.code === "OUTBOX_DRAINED")).toMatchObject({ fields: { commits: 10 } });
  });

  it("can be corrected as soon as the store is back, and is not called unknown before", async () => {
    const { engine, faults, clock } = queueing();
    faults.commit = "before";
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "queued" });
    await expect(engine.report(episode, { reward: false })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("wait in the outbox"),
    });
    faults.commit = "none";
    clock.now += 4_000;
    expect(await engine.report(episode, { reward: false })).toMatchObject({ status: "committed" });
    expect((await engine.explain(episode))?.outcome).toMatchObject({ reward: 0 });
    await expect(engine.report("never heard of", { reward: false })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });

  it("gives the same state as if the store had never been away", async () => {
    const shown = async ({ engine }: Pick<ReturnType<typeof testEngine>, "engine">): Promise<void> => {
      const { episode } = await engine.rank(request({ keepOrder: true }));
      await engine.end(episode, { reward: episode.length % 2 === 0, source: "ann" });
    };
    const [away, plain] = [queueing(), testEngine({ store: memoryStore() })];
    for (let run = 0; run < 12; run++) {
      away.faults.commit = run < 5 ? "none" : "before";
      await shown(away);
      await shown(plain);
    }
    away.faults.commit = "none";
    away.clock.now += 4_000;
    await away.engine.flush();
    expect(await snapshot(away.inner)).toEqual(await snapshot(plain.store));
    expect(await replay(away.engine)).toMatchObject({ identical: true });
  });

  it("that the outbox has kept although it never said so is passed on all the same, once", async () => {
    const world = queueing();
    const { engine, outbox, faults, clock } = world;
    await runs(world, 1);
    faults.commit = "before";
    const { append } = outbox;
    outbox.append = async (commit) => {
      await append(commit);
      throw new Error("the answer was lost");
    };
    const { episode } = await engine.rank(request());
    const outcome = { reward: true, idempotencyKey: "lost" };
    await expect(engine.end(episode, outcome)).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    clock.now += 4_000;
    await engine.flush();
    expect(outbox.waiting).toEqual([]);
    expect(await engine.end(episode, outcome)).toMatchObject({ status: "duplicate" });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 2 } });
  });

  it("that comes while the outbox is being counted is not forgotten", async () => {
    const world = queueing();
    const { engine, outbox, faults } = world;
    faults.commit = "before";
    await runs(world, 5);
    faults.commit = "none";
    const { size } = outbox;
    const counting = Promise.withResolvers<void>();
    const counted = Promise.withResolvers<void>();
    outbox.size = async () => {
      const found = await size();
      if (found > 0) return found;
      counting.resolve();
      await counted.promise;
      return found;
    };
    const flushing = engine.flush();
    await counting.promise;
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "queued" });
    counted.resolve();
    await flushing;
    const next = await engine.rank(request());
    expect(await engine.end(next.episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(outbox.waiting).toEqual([]);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 7 } });
  });

  it("beyond the outbox's cap is refused and counted, and can be said again later", async () => {
    const world = queueing({ cap: 3 });
    world.faults.commit = "before";
    await runs(world, 3);
    const { episode } = await world.engine.rank(request());
    await expect(world.engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "OUTBOX_FULL" });
    expect(world.engine.health()).toMatchObject({ queued: 3, rejected: 1, openEpisodes: 1 });
    world.faults.commit = "none";
    world.clock.now += 4_000;
    expect(await world.engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await world.engine.status()).toMatchObject({ outcomes: { user: 4 } });
  });

  it("about a recorded episode is queued as long as the episode can be read, and refused when it cannot", async () => {
    const world = queueing();
    const episode = await oneRun(world.engine, request());
    world.faults.commit = "before";
    expect(await world.engine.report(episode, { reward: true })).toEqual({ status: "queued", episode, seq: 0 });
    world.faults.readStates = "before";
    await expect(world.engine.report(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    world.faults.commit = "none";
    world.faults.readStates = "none";
    await world.engine.flush();
    expect(await world.engine.explain(episode)).toMatchObject({ outcome: { reward: 1 } });
  });

  it("waits for nobody once the store is known to be away", async () => {
    const world = queueing();
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

  it("that the store refuses for good stays in the outbox, is said so once, and holds nobody up", async () => {
    const world = queueing();
    const { engine, outbox, logs } = world;
    world.faults.commit = "before";
    await runs(world, 2);
    await oneRun(engine, request({ namespace: "taken" }), { reward: true });
    // An engine with another learner begins the namespace meanwhile.
    const other = testEngine({ store: world.inner, learner: similarity(), prefix: "other" });
    await oneRun(other.engine, request({ namespace: "taken" }), { reward: true });
    world.faults.commit = "none";
    world.clock.now += 4_000;
    await engine.flush();
    expect(outbox.waiting.map(({ namespace }) => namespace)).toEqual(["taken"]);
    const { episode: next } = await engine.rank(request());
    expect(await engine.end(next, { reward: true })).toMatchObject({ status: "committed", seq: 6 });
    expect(engine.health().queued).toBe(1);
    expect(logs.filter(({ fields }) => fields.code === "OUTBOX_REFUSED")).toMatchObject([
      { level: "error", fields: { namespace: "taken", reason: "LEARNER_MISMATCH" } },
    ]);
  });

  it("that meets damage in the store stays in the outbox, and holds nobody up", async () => {
    const world = queueing();
    const { engine, outbox, logs, clock, inner } = world;
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
    expect(outbox.waiting).toHaveLength(1);
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 3 } });
    expect(logs.filter(({ fields }) => fields.code === "OUTBOX_REFUSED")).toMatchObject([
      { level: "error", fields: { reason: "STORE_CORRUPT" } },
    ]);
  });

  it("about a damaged namespace waits until that is repaired, and those about others need not", async () => {
    const world = queueing();
    const { engine, outbox, inner, logs, faults, clock } = world;
    const { commit } = inner;
    inner.commit = async (namespace, entries, reduce) => {
      if (namespace === "damaged") throw new QavrError("STORE_CORRUPT", "Entry 7 is damaged.");
      return commit(namespace, entries, reduce);
    };
    faults.commit = "before";
    for (let run = 0; run < 8; run++) {
      // The store is back for the last run, whose commit is the first try after the pause.
      if (run === 7) [faults.commit, clock.now] = ["none", clock.now + 4_000];
      const { episode } = await engine.rank(request({ namespace: "damaged" }));
      expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "queued" });
    }
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(engine.health()).toMatchObject({ writeCircuitOpen: false, queued: 8 });
    expect(new Set(outbox.waiting.map(({ namespace }) => namespace))).toEqual(new Set(["damaged"]));
    const queued = logs.filter(({ fields }) => fields.code === "OUTCOME_QUEUED").map(({ message }) => message);
    expect([queued.at(0), queued.at(-1)]).toEqual([
      expect.stringContaining("out of reach"),
      expect.stringContaining("damaged"),
    ]);
    await engine.flush();
    inner.commit = commit;
    await engine.flush();
    expect(outbox.waiting).toHaveLength(8);
    expect(await repair(engine)).toMatchObject({ after: { ok: true } });
    expect(outbox.waiting).toEqual([]);
    expect(await engine.status({ namespace: "damaged" })).toMatchObject({ taught: 8 });
  });

  it("that was damaged in the outbox stays there, is said so once, and holds nobody up", async () => {
    const world = queueing();
    const { engine, outbox, logs, clock } = world;
    world.faults.commit = "before";
    await runs(world, 3);
    const [first, second, third] = outbox.waiting as [WaitingCommit, WaitingCommit, WaitingCommit];
    outbox.waiting.splice(0, 3, first, { ...second, entries: [], damage: "a bit has flipped" }, third);
    world.faults.commit = "none";
    clock.now += 4_000;
    await engine.flush();
    expect(outbox.waiting.map(({ id }) => id)).toEqual([second.id]);
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 3 } });
    expect(engine.health().queued).toBe(1);
    expect(logs.filter(({ fields }) => fields.code === "OUTBOX_FAILED")).toMatchObject([
      { level: "error", fields: { reason: "STORE_CORRUPT", commit: second.id } },
    ]);
    // It never gets there, so it brings nothing back: ids can be forgotten. Erasing its namespace drops it.
    await forget(engine, { namespace: "default", ids: ["d0"] });
    expect(outbox.waiting).toHaveLength(1);
    await forget(engine, { namespace: "default" });
    expect(outbox.waiting).toEqual([]);
    world.faults.commit = "before";
    await runs(world, 1);
    world.faults.commit = "none";
    await engine.end((await engine.rank(request())).episode, { reward: true });
    expect(outbox.waiting).toEqual([]);
  });

  it("whose key was taken meanwhile is dropped, and said so", async () => {
    const world = queueing();
    const episode = await oneRun(world.engine, request());
    world.faults.commit = "before";
    await world.engine.report(episode, { reward: true, idempotencyKey: "k" });
    const other = testEngine({ store: world.inner, prefix: "other" });
    await other.engine.report(episode, { reward: false, idempotencyKey: "k" });
    world.faults.commit = "none";
    await world.engine.flush();
    expect(world.outbox.waiting).toEqual([]);
    expect(world.logs.at(-2)).toMatchObject({
      level: "error",
      fields: { code: "OUTBOX_REFUSED", reason: "IDEMPOTENCY_CONFLICT", key: "outcome:key:k" },
    });
  });
});

describe("close", () => {
  it("passes on what waits in the outbox", async () => {
    const faulty = faultyStore();
    const store = { ...faulty.store, close: async () => undefined };
    const world = testEngine({ store: withOutbox(store, memoryOutbox()) });
    faulty.faults.commit = "before";
    expect(await runs(world, 1)).toEqual(["queued"]);
    faulty.faults.commit = "none";
    await world.engine.close();
    expect(await faulty.inner.head("default")).toBe(2);
  });

  it("may be called again, and flush after it, without a line about the closed outbox", async () => {
    const { engine, outbox, logs } = queueing();
    outbox.close = async () => {
      outbox.failure = new QavrError("STORE_CLOSED", "The outbox was closed before this call.");
    };
    await engine.close();
    await engine.close();
    await engine.flush();
    expect(logs).toEqual([]);
  });
});

describe("an outbox that fails", () => {
  it("keeps no outcome from a store that works", async () => {
    const world = queueing();
    world.outbox.failure = new Error("bad sector");
    expect(await runs(world, 2)).toEqual(["committed", "committed"]);
    expect(world.logs.find(({ fields }) => fields.code === "OUTBOX_FAILED")).toMatchObject({ level: "error" });
  });

  it("makes an outcome fail that neither can take, and the retry counts once", async () => {
    const world = queueing();
    world.outbox.failure = new Error("bad sector");
    world.faults.commit = "before";
    const { episode } = await world.engine.rank(request());
    await expect(world.engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    const before = await snapshot(world.inner);
    expect(before).toMatchObject({ head: 0 });
    world.faults.commit = "none";
    expect(await world.engine.end(episode, { reward: true })).toMatchObject({ status: "committed", seq: 2 });
  });

  it("to say how many wait is asked again: what waits is not forgotten", async () => {
    const world = queueing();
    world.faults.commit = "before";
    await runs(world, 2);
    world.outbox.failure = new Error("bad sector");
    world.faults.commit = "none";
    world.clock.now += 4_000;
    await runs(world, 1);
    expect(world.engine.health().queued).toBe(2);
    world.outbox.failure = undefined;
    await world.engine.flush();
    expect(world.outbox.waiting).toEqual([]);
    expect(world.engine.health().queued).toBe(0);
  });

  it("is asked by flush() also while the store is in its pause", async () => {
    const world = queueing();
    world.faults.commit = "before";
    await runs(world, 8);
    world.faults.commit = "none";
    expect(world.engine.health().writeCircuitOpen).toBe(true);
    await world.engine.flush();
    expect([world.outbox.waiting.length, world.engine.health().writeCircuitOpen]).toEqual([0, false]);
  });

  it("by never answering does not keep an episode closing for ever", async () => {
    const timer = handTimer();
    const world = queueing({ setTimer: timer.setTimer });
    world.faults.commit = "before";
    const { episode } = await world.engine.rank(request());
    const silent = vi.spyOn(world.outbox, "append").mockReturnValue(new Promise(() => undefined));
    const ending = world.engine.end(episode, { reward: true });
    const refused = expect(ending).rejects.toMatchObject({
      code: "STORE_TIMEOUT",
      details: { store: "memory outbox" },
    });
    await timer.advance(10_001);
    await refused;
    silent.mockRestore();
    expect(await world.engine.end(episode, { reward: true })).toMatchObject({ status: "queued" });
  });

  it.each([
    ["outbox", () => withOutbox(memoryStore(), {} as never)],
    ["store", () => withOutbox(undefined as never, memoryOutbox())],
  ])("is no %s without its methods", (what, wrap) => {
    expect(wrap).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining(`${what} must be`) }),
    );
  });
});

describe("suspending while the store is out of reach", () => {
  it("is refused: nobody could resume from the outbox", async () => {
    const world = queueing();
    const { episode } = await world.engine.rank(request());
    world.faults.commit = "before";
    await expect(world.engine.suspend(episode, { alias: "thread" })).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(world.outbox.waiting).toEqual([]);
  });
});
