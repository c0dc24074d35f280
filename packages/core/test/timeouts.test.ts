import { describe, expect, it, vi } from "vitest";
import { memoryStore, QavrError, type Store } from "../src/index.js";
import { type FaultyStore, faultyStore } from "./support/faulty-store.js";
import { handTimer } from "./support/hand-timer.js";
import { candidates, ids, MINUTE, oneRun, request, testEngine } from "./support/test-engine.js";

/** An engine that has learned, on a store that can be told to fail or never to answer, with time in the test's hands. */
async function learned(): Promise<
  ReturnType<typeof testEngine> & Pick<FaultyStore, "faults" | "inner"> & { timer: ReturnType<typeof handTimer> }
> {
  const { store, faults, inner } = faultyStore();
  const timer = handTimer();
  const tested = testEngine({ store, setTimer: timer.setTimer });
  for (let run = 0; run < 20; run++) await oneRun(tested.engine, request(), { reward: false });
  return { ...tested, faults, inner, timer };
}

const host = ["d0", "d1", "d2"];

describe("a ranking on a store that does not answer", () => {
  it("goes on without learning when the timeout is over, and leaves no timer behind", async () => {
    const { engine, faults, timer, logs } = await learned();
    expect(timer.pending()).toBe(0);
    faults.readStates = "never";
    let settled = false;
    const ranking = engine.rank(request()).finally(() => {
      settled = true;
    });
    await timer.advance(49);
    expect(settled).toBe(false);
    await timer.advance(1);
    expect(await ranking).toMatchObject({ order: "host", degraded: { code: "STORE_TIMEOUT" } });
    expect(ids(await ranking)).toEqual(host);
    expect(timer.pending()).toBe(0);
    expect(logs.at(-1)).toMatchObject({ level: "warn", fields: { code: "RANKING_DEGRADED", reason: "STORE_TIMEOUT" } });
  });

  it("does not wait longer for a suspended run, since a retrieval waits with it", async () => {
    const { engine, faults, timer } = await learned();
    await engine.suspend((await engine.rank(request())).episode, { alias: "thread" });
    faults.readStates = "never";
    const resuming = engine.resume("thread");
    const refused = expect(resuming).rejects.toMatchObject({ code: "STORE_TIMEOUT" });
    // The code of resume() loads on first use.
    await vi.waitUntil(() => timer.pending() > 0);
    await timer.advance(50);
    await refused;
    faults.readStates = "none";
    expect(await engine.resume("thread")).toBeDefined();
  });

  it("takes an answer that came in time although the program was too busy to read it", async () => {
    const inner = memoryStore();
    const { changesSince: _, ...rest } = inner;
    let lastChances = 0;
    const { engine } = testEngine({
      // The answer is there with the next turn of the event loop …
      store: {
        ...rest,
        readStates: (...call) => new Promise((resolve) => setImmediate(() => resolve(inner.readStates(...call)))),
      },
      // … and the time was up before that turn began.
      setTimer(run, milliseconds) {
        if (milliseconds === 0) lastChances += 1;
        const timer = milliseconds === 0 ? setTimeout(run, 100) : queueMicrotask(run);
        return () => clearTimeout(timer ?? undefined);
      },
    });
    expect((await engine.rank(request())).degraded).toBeUndefined();
    expect(lastChances).toBeGreaterThan(0);
  });

  it("calls its timer off when the answer comes after some waiting, a failure too", async () => {
    const inner = memoryStore();
    const { changesSince: _, ...rest } = inner;
    const timer = handTimer();
    let fails = false;
    const later = <T>(answer: () => Promise<T>): Promise<T> =>
      new Promise((resolve) => setImmediate(resolve)).then(() =>
        fails ? Promise.reject(new Error("refused")) : answer(),
      );
    const { engine } = testEngine({
      store: { ...rest, readStates: (...call) => later(() => inner.readStates(...call)) },
      setTimer: timer.setTimer,
    });
    for (const failing of [false, true]) {
      fails = failing;
      const ranking = engine.rank(request());
      await new Promise((resolve) => queueMicrotask(() => queueMicrotask(() => resolve(undefined))));
      expect(((await ranking).degraded !== undefined) === failing).toBe(true);
      expect(timer.pending()).toBe(0);
    }
  });

  it("is not tried any more after five failures, and tried again within seconds; what comes back ranks as before", async () => {
    const { engine, faults, timer, clock, logs } = await learned();
    const before = ids(await engine.rank(request()));
    expect(before).not.toEqual(host);
    faults.readStates = "never";
    const reasons: (string | undefined)[] = [];
    for (let i = 0; i < 8; i++) {
      // Namespaces of one place fail together.
      const ranking = engine.rank(request({ namespace: i % 2 ? "default" : "other" }));
      await timer.advance(51);
      reasons.push((await ranking).degraded?.code);
    }
    expect(reasons).toEqual([...Array(5).fill("STORE_TIMEOUT"), ...Array(3).fill("STORE_CIRCUIT_OPEN")]);
    expect(engine.health()).toMatchObject({ readCircuitOpen: true, degradedRankings: 8 });
    expect(logs.filter(({ fields }) => fields.code === "STORE_CIRCUIT_OPEN")).toMatchObject([
      { level: "warn", fields: { reason: "STORE_TIMEOUT" } },
    ]);
    // While the circuit is open no ranking waits, and not every ranking is logged.
    expect(logs.slice(-3).map(({ level }) => level)).toEqual(["debug", "debug", "debug"]);
    faults.readStates = "none";
    clock.now += 4_000;
    expect(ids(await engine.rank(request()))).toEqual(before);
    expect(engine.health()).toMatchObject({ readCircuitOpen: false, degradedRankings: 8 });
    expect(logs.at(-1)).toMatchObject({ level: "info", fields: { code: "STORE_RECOVERED" } });
    expect(timer.pending()).toBe(0);
  });

  it("asks the host for exactly topK, and does not wait for it either", async () => {
    const { engine, faults, timer } = await learned();
    faults.readStates = "never";
    const size = engine.fetchSize({ topK: 3 });
    await timer.advance(51);
    expect(await size).toBe(3);
  });

  it("does not take calls that the store refuses for failures of the store", async () => {
    const { engine } = await learned();
    const many = candidates(10_001, 0);
    for (let i = 0; i < 8; i++) {
      expect(await engine.rank(request({ candidates: many }))).toMatchObject({ degraded: { code: "LIMIT_EXCEEDED" } });
    }
    expect(engine.health().readCircuitOpen).toBe(false);
  });

  it("does not leave a store alone for the damage in one namespace", async () => {
    const { engine, inner } = await learned();
    const { readStates } = inner;
    inner.readStates = async (namespace, ...call) => {
      if (namespace === "damaged") throw new QavrError("STORE_CORRUPT", "Entry 7 is damaged.");
      return readStates(namespace, ...call);
    };
    for (let i = 0; i < 8; i++) {
      const ranking = await engine.rank(request({ namespace: "damaged" }));
      expect(ranking).toMatchObject({ degraded: { code: "STORE_CORRUPT" } });
    }
    expect((await engine.rank(request())).degraded).toBeUndefined();
    expect(engine.health().readCircuitOpen).toBe(false);
  });

  it("ranks by what it knows where the store can tell that nothing has changed", async () => {
    const inner = memoryStore();
    let reachable = true;
    const timer = handTimer();
    const store: Store = {
      ...inner,
      readStates: (...call) => (reachable ? inner.readStates(...call) : new Promise(() => undefined)),
    };
    const { engine } = testEngine({ store, setTimer: timer.setTimer });
    for (let run = 0; run < 20; run++) await oneRun(engine, request(), { reward: false });
    const before = ids(await engine.rank(request()));
    reachable = false;
    expect(ids(await engine.rank(request()))).toEqual(before);
  });
});

describe("an outcome on a store that does not answer", () => {
  it("is refused when the timeout is over, its episode stays open, and the retry counts once", async () => {
    const { engine, faults, timer, inner } = await learned();
    const { episode } = await engine.rank(request());
    const head = await inner.head("default");
    faults.commit = "never";
    const ending = engine.end(episode, { reward: true });
    const refused = expect(ending).rejects.toMatchObject({ code: "STORE_TIMEOUT", details: { timeout: 10_000 } });
    await timer.advance(10_001);
    await refused;
    expect((await engine.explain(episode))?.state).toBe("open");
    faults.commit = "none";
    expect(await engine.end(episode, { reward: true })).toEqual({ status: "committed", episode, seq: head + 2 });
    expect(timer.pending()).toBe(0);
  });

  it("that arrives after all counts once: the retry is a duplicate", async () => {
    const { engine, faults, timer, inner } = await learned();
    const { episode } = await engine.rank(request());
    faults.commit = "unheard";
    const ending = engine.end(episode, { reward: true });
    const refused = expect(ending).rejects.toMatchObject({ code: "STORE_TIMEOUT" });
    await timer.advance(10_001);
    await refused;
    const head = await inner.head("default");
    faults.commit = "none";
    expect(await engine.end(episode, { reward: true })).toEqual({ status: "duplicate", episode, seq: head });
  });

  it("lets the engine close: what cannot be recorded is let go, and said so", async () => {
    const { engine, faults, timer, logs } = await learned();
    for (let i = 0; i < 250; i++) await engine.rank(request());
    faults.commit = "never";
    const closing = engine.close();
    await timer.advance(30_000);
    await closing;
    expect(engine.health()).toMatchObject({ openEpisodes: 0, lostEpisodes: 250 });
    expect(logs.filter(({ fields }) => fields.code === "EPISODE_LOST")).toHaveLength(250);
    expect(timer.pending()).toBe(0);
  });

  it("does not let open episodes pile up: beyond the limit and what waits to be written, the oldest go", async () => {
    const { store, faults } = faultyStore();
    const timer = handTimer();
    const { engine, logs } = testEngine({ store, setTimer: timer.setTimer, maxOpenEpisodes: 50 });
    faults.commit = "never";
    for (let i = 0; i < 3_000; i++) await engine.rank(request());
    // Those that are being written at this moment come on top.
    expect(engine.health().openEpisodes).toBeLessThanOrEqual(50 + 1_000 + 100);
    expect(engine.health().lostEpisodes).toBeGreaterThan(1_500);
    expect(logs.find(({ fields }) => fields.code === "EPISODE_LOST")?.fields.reason).toBe("LIMIT_EXCEEDED");
  });
});

describe("a timeout", () => {
  it("longer than timers can measure is none", async () => {
    const timer = handTimer();
    const { engine } = testEngine({
      store: faultyStore().store,
      setTimer(run, milliseconds) {
        expect(milliseconds).toBeLessThan(60 * MINUTE);
        return timer.setTimer(run, milliseconds);
      },
      readTimeout: Number.POSITIVE_INFINITY,
      writeTimeout: Number.POSITIVE_INFINITY,
    });
    const { episode } = await engine.rank(request());
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
  });
});
