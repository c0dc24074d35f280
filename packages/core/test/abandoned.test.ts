import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Engine, memoryStore, type Store } from "../src/index.js";
import { decodeEvent } from "../src/ledger/event-codec.js";
import { MAINTENANCE_EVENTS } from "../src/ledger/maintenance-events.js";
import { heldStore } from "./support/held-store.js";
import { DAY, MINUTE, request, testEngine, testEpisode } from "./support/test-engine.js";

const codes = (logs: ReturnType<typeof testEngine>["logs"]): string[] => logs.map(({ fields }) => fields.code);

describe("an episode that nobody ends", () => {
  it("is recorded as abandoned on the next write after its time to live, never as a failure", async () => {
    const { engine, clock, logs, episode } = await testEpisode({ aliases: ["lost"] }, { episodeTtl: 10 * MINUTE });
    clock.now += 10 * MINUTE;
    await engine.end((await engine.rank(request())).episode, { reward: true });
    expect((await engine.status()).episodes).toMatchObject({ open: 1, abandoned: 0 });
    clock.now += 1;
    await engine.end((await engine.rank(request())).episode, { reward: true });
    expect((await engine.status()).episodes).toMatchObject({ open: 0, abandoned: 1, recorded: 3 });
    expect(await engine.status()).toMatchObject({ taught: 2, outcomes: { user: 2 } });
    expect(await engine.explain("lost")).toMatchObject({ episode, state: "abandoned" });
    expect(codes(logs)).toContain("EPISODE_ABANDONED");
  });

  it.each([
    ["retrieves in it", (engine: Engine, episode: string) => engine.rank(request({ episode }))],
    ["reports on it", (engine: Engine, episode: string) => engine.report(episode, { reward: null })],
  ])("lives on while somebody %s", async (_, touch) => {
    const { engine, clock, episode } = await testEpisode({}, { episodeTtl: 10 * MINUTE });
    for (let i = 0; i < 3; i++) {
      clock.now += 6 * MINUTE;
      await touch(engine, episode);
      // Longer ago than its time to live: whatever was before the touch.
      clock.now += 6 * MINUTE;
      await engine.flush();
      expect((await engine.status()).episodes).toMatchObject({ open: 1, abandoned: 0 });
    }
  });

  it("is recorded as abandoned also where only reports about others come", async () => {
    const { engine, clock } = testEngine({ episodeTtl: MINUTE });
    const other = await engine.rank(request());
    await engine.end(other.episode);
    await engine.rank(request({ aliases: ["left"] }));
    clock.now += 2 * MINUTE;
    await engine.report(other.episode, { reward: true });
    expect(await engine.explain("left")).toMatchObject({ state: "abandoned" });
  });

  it("until a sweep has begun with others is not abandoned by that sweep", async () => {
    const { store, hold, release } = heldStore("commit");
    const { engine, clock } = testEngine({ store, episodeTtl: MINUTE });
    const open: string[] = [];
    // More than are written together.
    for (let i = 0; i < 150; i++) open.push((await engine.rank(request({ topK: 1 }))).episode);
    clock.now += 2 * MINUTE;
    hold();
    const swept = engine.flush();
    const late = open[120] as string;
    const ended = engine.end(late, { reward: true });
    await turn();
    release();
    await Promise.all([swept, ended]);
    expect(await engine.explain(late)).toMatchObject({ state: "ended" });
    expect((await engine.status()).episodes).toMatchObject({ open: 0, abandoned: 149 });
  });

  it("does not hide behind an older one that somebody touched", async () => {
    const { engine, clock } = testEngine({ episodeTtl: 10 * MINUTE });
    const touched = await engine.rank(request({ aliases: ["touched"] }));
    await engine.rank(request({ aliases: ["forgotten"] }));
    clock.now += 9 * MINUTE;
    await engine.rank(request({ episode: touched.episode }));
    clock.now += 2 * MINUTE;
    await engine.flush();
    expect(await engine.explain("touched")).toMatchObject({ state: "open" });
    expect(await engine.explain("forgotten")).toMatchObject({ state: "abandoned" });
  });

  it("is not abandoned by a clock that ran backwards", async () => {
    const { engine, clock } = testEngine();
    await engine.rank(request());
    clock.now -= 400 * DAY;
    await engine.flush();
    expect((await engine.status()).episodes).toMatchObject({ open: 1, abandoned: 0 });
  });

  it("is taken up once by sweeps at the same time", async () => {
    const { engine, clock, logs, store } = testEngine();
    for (let i = 0; i < 5; i++) await engine.rank(request());
    clock.now += DAY;
    await Promise.all([engine.flush(), engine.flush(), engine.flush()]);
    expect(codes(logs)).toEqual(new Array(5).fill("EPISODE_ABANDONED"));
    expect(await store.head("default")).toBe(5);
  });

  it("counts as abandoned once, whoever else gives it up", async () => {
    const store = memoryStore();
    const opener = testEngine({ store, prefix: "opener" });
    const { episode } = await opener.engine.rank(request());
    await opener.engine.suspend(episode, { alias: "thread" });
    for (const prefix of ["left", "right"]) {
      const { engine, clock } = testEngine({ store, prefix });
      clock.now += MINUTE;
      // The second finds it abandoned already.
      const resumed = await engine.resume("thread");
      if (resumed) await engine.rank(request({ episode: resumed }));
      clock.now += DAY;
      await engine.flush();
    }
    expect((await opener.engine.status()).episodes).toEqual({ open: 0, recorded: 1, suspended: 0, abandoned: 1 });
  });

  it("counts as abandoned once when two processes had it open", async () => {
    const store = memoryStore();
    const opener = testEngine({ store, prefix: "opener" });
    const { episode } = await opener.engine.rank(request());
    await opener.engine.suspend(episode, { alias: "thread" });
    const both = [testEngine({ store, prefix: "left" }), testEngine({ store, prefix: "right" })];
    for (const { engine } of both) await engine.resume("thread");
    for (const { engine, clock } of both) {
      clock.now += DAY;
      await engine.flush();
    }
    expect((await opener.engine.status()).episodes).toEqual({ open: 0, recorded: 1, suspended: 0, abandoned: 1 });
  });
});

describe("the limit on open episodes", () => {
  it("abandons the oldest first, in a process that only ranks", async () => {
    const { engine, logs } = testEngine({ maxOpenEpisodes: 3 });
    for (let i = 0; i < 6; i++) await engine.rank(request({ aliases: [`run ${i}`] }));
    await engine.flush();
    expect((await engine.status()).episodes).toMatchObject({ open: 3, abandoned: 3 });
    expect(codes(logs)).toEqual(["EPISODE_ABANDONED", "EPISODE_ABANDONED", "EPISODE_ABANDONED"]);
    expect(await engine.explain("run 2")).toMatchObject({ state: "abandoned" });
    expect(await engine.explain("run 3")).toMatchObject({ state: "open" });
  });

  it("holds for 100,000 episodes that are opened and never ended", async () => {
    const { engine } = testEngine({ maxOpenEpisodes: 100 });
    let most = 0;
    for (let i = 0; i < 100_000; i++) {
      engine.open({ aliases: [`run ${i}`] });
      if (i % 1_000 === 999) {
        await turn();
        most = Math.max(most, (await engine.status()).episodes.open);
      }
    }
    expect(most).toBe(100);
    expect((await engine.status()).episodes).toMatchObject({ recorded: 0, abandoned: 0 });
  });

  it("holds between writes for thousands of rankings, whose exposures are kept in the ledger", async () => {
    const { engine } = testEngine({ maxOpenEpisodes: 50 });
    const small = request({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    let most = 0;
    for (let i = 0; i < 3_000; i++) {
      await engine.rank(small);
      if (i % 100 === 0) most = Math.max(most, (await engine.status()).episodes.open);
    }
    // One is being opened and one being written while the limit is kept.
    expect(most).toBeLessThanOrEqual(53);
    await engine.flush();
    expect((await engine.status()).episodes).toMatchObject({ open: 50, abandoned: 2_950, recorded: 2_950 });
  });

  it("holds when the store fails: what cannot be written is lost, and said so", async () => {
    const store = memoryStore();
    const { engine, logs } = testEngine({
      store: { ...store, commit: () => Promise.reject(new Error("disk full")) },
      maxOpenEpisodes: 5,
    });
    for (let i = 0; i < 50; i++) await engine.rank(request());
    await engine.flush();
    expect((await engine.status()).episodes.open).toBe(5);
    const lost = logs.filter(({ fields }) => fields.code === "EPISODE_LOST");
    expect(lost).toHaveLength(45);
    expect(lost[0]).toMatchObject({ level: "error", fields: { reason: "STORE_FAILED", namespace: "default" } });
  });
});

describe.each(["flush", "close"] as const)("%s", (method) => {
  it("waits for what is under way", async () => {
    const { store: slow, hold, release } = heldStore("commit");
    const order: string[] = [];
    const store: Store = {
      ...slow,
      commit: async (...call) => {
        const receipts = await slow.commit(...call);
        order.push("committed");
        return receipts;
      },
      close: async () => {
        order.push("closed");
      },
    };
    const { engine, episode } = await testEpisode({}, { store });
    hold();
    const ending = engine.end(episode, { reward: true });
    const waiting = engine[method]().then(() => order.push("returned"));
    await turn();
    release();
    await expect(ending).resolves.toMatchObject({ status: "committed" });
    await waiting;
    expect(order).toEqual(method === "close" ? ["committed", "closed", "returned"] : ["committed", "returned"]);
  });
});

describe("close", () => {
  it("records what is open as abandoned, and closes the store; twice is once", async () => {
    const inner = memoryStore();
    let closed = 0;
    const store = { ...inner, close: async () => void closed++ };
    const { engine, episode } = await testEpisode({ aliases: ["run"] }, { store });
    await engine.close();
    expect(closed).toBe(1);
    await engine.close();
    const next = testEngine({ store: inner, prefix: "next" }).engine;
    expect(await next.explain("run")).toMatchObject({ episode, state: "abandoned" });
    expect((await next.status()).episodes.abandoned).toBe(1);
  });

  it("takes no other episode with the one that the store refuses", async () => {
    const inner = memoryStore();
    let refused: string | undefined;
    const commit: Store["commit"] = async (namespace, entries, reduce) => {
      const events = entries.map(({ type, payload }) => decodeEvent(type, payload, MAINTENANCE_EVENTS));
      if (events.some((event) => event.type === "exposure" && event.episode === refused)) throw new Error("refused");
      return inner.commit(namespace, entries, reduce);
    };
    const { engine } = testEngine({ store: { ...inner, commit, close: async () => undefined } });
    refused = (await engine.rank(request({ topK: 1 }))).episode;
    // More than are written together.
    for (let i = 0; i < 150; i++) await engine.rank(request({ topK: 1 }));
    await engine.close();
    expect(engine.health()).toMatchObject({ lostEpisodes: 1, openEpisodes: 0 });
    expect(await inner.head("default")).toBe(150);
  });

  it("does not ask a store that is out of reach for every open episode", async () => {
    let asked = 0;
    const commit: Store["commit"] = async () => {
      asked += 1;
      throw new Error("away");
    };
    const { engine } = testEngine({ store: { ...memoryStore(), commit } });
    for (let i = 0; i < 350; i++) await engine.rank(request({ topK: 1 }));
    await engine.close();
    expect(asked).toBe(100);
    expect(engine.health()).toMatchObject({ lostEpisodes: 350, openEpisodes: 0 });
  });

  it("says which episodes it could not record, and closes the store all the same", async () => {
    const inner = memoryStore();
    const { engine, logs } = testEngine({ store: { ...inner, commit: () => Promise.reject(new Error("disk full")) } });
    await engine.rank(request());
    await engine.close();
    expect(codes(logs)).toEqual(["EPISODE_LOST"]);
    await expect(inner.head("default")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
