import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/index.js";
import { DAY, MINUTE, request, testEngine } from "./support/test-engine.js";

const codes = (logs: ReturnType<typeof testEngine>["logs"]): string[] => logs.map(({ fields }) => fields.code);

describe("an episode that nobody ends", () => {
  it("is recorded as abandoned on the next write after its time to live, never as a failure", async () => {
    const { engine, clock, logs } = testEngine({ episodeTtl: 10 * MINUTE });
    const { episode } = await engine.rank(request({ aliases: ["lost"] }));
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

  it("still takes feedback by its alias, which counts", async () => {
    const { engine, clock } = testEngine();
    await engine.rank(request({ aliases: ["lost"] }));
    clock.now += 2 * DAY;
    await engine.flush();
    expect((await engine.status()).episodes).toMatchObject({ open: 0, abandoned: 1 });
    expect(await engine.report("lost", { reward: false })).toMatchObject({ status: "committed" });
    expect(await engine.status()).toMatchObject({ taught: 1, episodes: { abandoned: 1 } });
    expect(await engine.replay()).toMatchObject({ identical: true });
  });

  it("lives on while somebody touches it", async () => {
    const { engine, clock } = testEngine({ episodeTtl: 10 * MINUTE });
    const { episode } = await engine.rank(request());
    for (let i = 0; i < 5; i++) {
      clock.now += 9 * MINUTE;
      if (i % 2 === 0) await engine.rank(request({ episode }));
      else await engine.report(episode, { reward: null });
      await engine.flush();
    }
    expect((await engine.status()).episodes).toMatchObject({ open: 1, abandoned: 0 });
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
    await opener.engine.park(episode, { alias: "thread" });
    for (const prefix of ["left", "right"]) {
      const { engine, clock } = testEngine({ store, prefix });
      clock.now += MINUTE;
      // The second finds it abandoned already.
      const resumed = await engine.resume("thread");
      if (resumed) await engine.rank(request({ episode: resumed }));
      clock.now += DAY;
      await engine.flush();
    }
    expect((await opener.engine.status()).episodes).toEqual({ open: 0, recorded: 1, parked: 0, abandoned: 1 });
  });

  it("counts as abandoned once when two processes had it open", async () => {
    const store = memoryStore();
    const opener = testEngine({ store, prefix: "opener" });
    const { episode } = await opener.engine.rank(request());
    await opener.engine.park(episode, { alias: "thread" });
    const both = [testEngine({ store, prefix: "left" }), testEngine({ store, prefix: "right" })];
    for (const { engine } of both) await engine.resume("thread");
    for (const { engine, clock } of both) {
      clock.now += DAY;
      await engine.flush();
    }
    expect((await opener.engine.status()).episodes).toEqual({ open: 0, recorded: 1, parked: 0, abandoned: 1 });
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
        await new Promise((resolve) => setImmediate(resolve));
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

describe("close", () => {
  it("records what is open as abandoned, and closes the store", async () => {
    const inner = memoryStore();
    let closed = 0;
    const store = { ...inner, close: async () => void closed++ };
    const { engine } = testEngine({ store });
    const { episode } = await engine.rank(request({ aliases: ["run"] }));
    await engine.close();
    expect(closed).toBe(1);
    const next = testEngine({ store: inner, prefix: "next" }).engine;
    expect(await next.explain("run")).toMatchObject({ episode, state: "abandoned" });
    expect((await next.status()).episodes.abandoned).toBe(1);
  });

  it("waits for what is under way", async () => {
    const inner = memoryStore();
    const { engine } = testEngine({ store: { ...inner, close: async () => undefined } });
    const { episode } = await engine.rank(request());
    const ending = engine.end(episode, { reward: true });
    await engine.close();
    await expect(ending).resolves.toMatchObject({ status: "committed" });
    expect(await inner.head("default")).toBe(2);
  });

  it("says which episodes it could not record, and closes the store all the same", async () => {
    const inner = memoryStore();
    const { engine, logs } = testEngine({ store: { ...inner, commit: () => Promise.reject(new Error("disk full")) } });
    await engine.rank(request());
    await engine.close();
    expect(codes(logs)).toEqual(["EPISODE_LOST"]);
    await expect(inner.head("default")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  it("twice is once", async () => {
    const { engine } = testEngine();
    await engine.rank(request());
    await engine.close();
    await engine.close();
  });
});
