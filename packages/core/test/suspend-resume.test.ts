import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Learner, memoryStore, type OutcomeReceipt, qValue, type Store } from "../src/index.js";
import { decodeEvent } from "../src/ledger/event-codec.js";
import type { ExposureEvent } from "../src/ledger/events.js";
import { compact, replay } from "../src/maintenance/index.js";
import { withOutbox } from "../src/store-kit.js";
import { heldStore } from "./support/held-store.js";
import { memoryOutbox } from "./support/memory-outbox.js";
import { DAY, evidenceIn, request, type TestEngine, testEngine, testEpisode } from "./support/test-engine.js";

describe("a suspended episode", () => {
  it("is open before its last entry where it takes several, so that it is suspended once", async () => {
    const { engine, store } = testEngine();
    const episode = engine.open();
    // More than an entry holds, in names alone.
    const candidates = Array.from({ length: 40 }, (_, i) => ({
      id: `${i}`.padEnd(500, "m"),
      similarity: 0.9 - i / 100,
    }));
    for (let run = 0; run < 60; run++) await engine.rank(request({ episode, candidates }));
    await engine.suspend(episode, { alias: "thread" });
    const entries = await store.readEntries("default", { limit: 10 });
    const states = entries.map(({ type, payload }) => {
      const { state, suspendedAs } = decodeEvent(type, payload) as ExposureEvent;
      return [state, suspendedAs];
    });
    expect(states.length).toBeGreaterThan(1);
    expect(states).toEqual([...states.slice(1).map(() => ["open", undefined]), ["suspended", "thread"]]);
  });

  it("goes on in another process, and credit reaches the exposures of both", async () => {
    const store = memoryStore();
    const before = testEngine({ store, prefix: "before" }).engine;
    const first = await before.rank(request({ topK: 1, aliases: ["run 1"] }));
    await before.suspend(first.episode, { alias: "thread" });
    expect((await before.status()).episodes).toEqual({ open: 0, recorded: 1, suspended: 1, abandoned: 0 });

    const after = testEngine({ store, prefix: "after" }).engine;
    const episode = await after.resume("thread");
    expect(episode).toBe(first.episode);
    const second = await after.rank(
      request({ episode: episode as string, topK: 1, candidates: [{ id: "later", similarity: 1 }] }),
    );
    expect(second).toMatchObject({ exposure: 1, items: [{ handle: "m2" }] });
    await after.end(episode as string, { reward: true, helpful: ["m1"] });
    expect(await evidenceIn(after)).toEqual({ d0: 0.5, later: 0.5 });
    expect(await after.explain("run 1")).toMatchObject({ state: "ended", exposures: [{}, {}] });
    expect((await after.status()).episodes).toEqual({ open: 0, recorded: 1, suspended: 0, abandoned: 0 });
    expect(await replay(after)).toMatchObject({ identical: true });
  });

  it("shows a memory again under the handle it had before", async () => {
    const store = memoryStore();
    const before = testEngine({ store, prefix: "before" }).engine;
    const { episode } = await before.rank(request({ topK: 2 }));
    await before.suspend(episode, { alias: "thread" });
    const after = testEngine({ store, prefix: "after" }).engine;
    await after.resume("thread");
    const { items } = await after.rank(request({ episode, topK: 3 }));
    expect(items.map(({ handle }) => handle)).toEqual(["m1", "m2", "m3"]);
  });

  it("is resumed once per alias that it waits under, and only under that", async () => {
    const { engine, episode } = await testEpisode({ aliases: ["run"] });
    expect(await engine.resume("thread")).toBeUndefined();
    await engine.suspend(episode, { alias: "thread" });
    expect(await engine.resume("run")).toBeUndefined();
    expect(await engine.resume("thread", { namespace: "other" })).toBeUndefined();
    expect(await engine.resume("thread")).toBe(episode);
    expect(await engine.resume("thread")).toBe(episode);
    await engine.end(episode);
    expect(await engine.resume("thread")).toBeUndefined();
  });

  it("is waited for by flush, with the end that follows at once", async () => {
    const { store, hold, release } = heldStore("readStates");
    const { engine, episode } = await testEpisode({}, { store });
    await engine.suspend(episode, { alias: "thread" });
    hold();
    const ending = engine.resume("thread").then((resumed) => engine.end(resumed as string, { reward: true }));
    const flushed = engine.flush();
    release();
    await flushed;
    expect(await engine.status()).toMatchObject({ taught: 1, episodes: { suspended: 0 } });
    await ending;
  });

  it("may be suspended again and again, with exposures in between or without, under one alias or another", async () => {
    const store = memoryStore();
    let engine = testEngine({ store, prefix: "first" }).engine;
    const opened = await engine.rank(request({ topK: 1 }));
    await engine.suspend(opened.episode, { alias: "a" });
    let waiting = "a";
    for (const alias of ["a", "b", "c", "c", "d"]) {
      engine = testEngine({ store, prefix: `for ${alias}` }).engine;
      expect(await engine.resume(waiting)).toBe(opened.episode);
      if (alias !== "b") await engine.rank(request({ episode: opened.episode, topK: 1 }));
      await engine.suspend(opened.episode, { alias });
      expect((await engine.status()).episodes.suspended).toBe(1);
      waiting = alias;
    }
    expect(await engine.resume("d")).toBe(opened.episode);
    for (const old of ["a", "b", "c"]) expect(await engine.resume(old)).toBeUndefined();
    await engine.end(opened.episode, { reward: true });
    expect(await engine.status()).toMatchObject({ episodes: { suspended: 0, recorded: 1 }, taught: 1 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("is still found under the alias that it waited under, after its end", async () => {
    const { engine, episode } = await testEpisode({ aliases: ["thread"] });
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    await engine.end(episode);
    expect(await engine.report("thread", { reward: true })).toMatchObject({ status: "committed", episode });
    const next = await engine.rank(request());
    await engine.suspend(next.episode, { alias: "thread" });
    expect(await engine.resume("thread")).toBe(next.episode);
  });

  it("gives its alias up to the next episode that waits under it, and counts as abandoned then", async () => {
    const { engine } = testEngine();
    const first = await engine.rank(request({ aliases: ["first"] }));
    await engine.suspend(first.episode, { alias: "thread" });
    const second = await engine.rank(request());
    await engine.suspend(second.episode, { alias: "thread" });
    expect((await engine.status()).episodes).toEqual({ open: 0, recorded: 2, suspended: 1, abandoned: 1 });
    expect(await engine.resume("thread")).toBe(second.episode);
    expect(await engine.explain("first")).toMatchObject({ state: "abandoned" });
    expect(await engine.report("first", { reward: true })).toMatchObject({ status: "committed" });
    await engine.end(second.episode);
    expect((await engine.status()).episodes).toEqual({ open: 0, recorded: 2, suspended: 0, abandoned: 1 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("is not resumed once outcomes about it would come too late", async () => {
    const { engine, clock, episode } = await testEpisode({}, { outcomeWindow: 7 * DAY });
    await engine.suspend(episode, { alias: "thread" });
    clock.now += 7 * DAY;
    expect(await engine.resume("thread")).toBe(episode);
    await engine.suspend(episode, { alias: "thread" });
    clock.now += 1;
    expect(await engine.resume("thread")).toBeUndefined();
  });

  it("takes feedback while it waits", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    await engine.suspend(episode, { alias: "thread" });
    await engine.report("thread", { reward: true });
    expect(await evidenceIn(engine)).toEqual({ d0: 1 });
    expect(await engine.resume("thread")).toBe(episode);
    await engine.rank(request({ episode, topK: 1, candidates: [{ id: "later", similarity: 1 }] }));
    await engine.end(episode);
    expect(await evidenceIn(engine)).toEqual({ d0: 0.5, later: 0.5 });
  });

  it("takes feedback about all that it has shown, under every alias, once it is resumed", async () => {
    const { engine, episode } = await testEpisode({ topK: 1, aliases: ["first run"] });
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    await engine.rank(request({ episode, topK: 1, candidates: [{ id: "later", similarity: 1 }] }));
    await engine.report("first run", { reward: true, helpful: ["later"] });
    expect((await engine.explain("first run"))?.outcome).toMatchObject({ reward: 1 });
    await engine.end(episode);
    expect(Object.keys(await evidenceIn(engine)).sort()).toEqual(["d0", "later"]);
  });

  it("that has ended since is not taken, by its alias, for an open one whose alias is its id", async () => {
    const { engine, episode } = await testEpisode({ aliases: ["run"] });
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    await engine.end(episode);
    await engine.rank(request({ aliases: [episode] }));
    expect(await engine.explain("run")).toMatchObject({ episode, state: "ended" });
    expect(await engine.report("run", { reward: true })).toMatchObject({ episode });
  });

  it("is shown as ended under an alias from before as soon as its end is recorded", async () => {
    const inner = memoryStore();
    const { engine } = testEngine({
      store: { ...inner, commit: (...call) => turn().then(() => inner.commit(...call)) },
    });
    const { episode } = await engine.rank(request({ aliases: ["first run"] }));
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    const ending = engine.end(episode, { reward: true });
    expect(await engine.explain("first run")).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    await ending;
  });

  it("takes credit, and narrowing, by the number that each exposure has in the whole episode", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    const show = (...names: string[]) =>
      engine.rank(request({ episode, topK: 2, candidates: names.map((id) => ({ id, similarity: 1 })) }));
    const failed = await show("failed");
    const narrowed = await show("kept", "dropped");
    engine.narrow(episode, narrowed.exposure, ["kept"]);
    await engine.end(episode, { reward: true }, { uncredited: [failed.exposure] });
    expect(await evidenceIn(engine)).toEqual({ d0: 0.5, kept: 0.5 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps what it has shown since when it is resumed again", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    await engine.rank(request({ episode, topK: 1, candidates: [{ id: "late", similarity: 1 }] }));
    expect(await engine.resume("thread")).toBe(episode);
    await engine.end(episode, { reward: true });
    expect(await evidenceIn(engine)).toEqual({ d0: 0.5, late: 0.5 });
  });

  it("waits on under a new alias when another takes the one that it had", async () => {
    const { engine, episode } = await testEpisode();
    await engine.suspend(episode, { alias: "old" });
    await engine.resume("old");
    await engine.suspend(episode, { alias: "new" });
    await engine.suspend((await engine.rank(request())).episode, { alias: "old" });
    expect((await engine.status()).episodes).toMatchObject({ suspended: 2, abandoned: 0 });
    expect(await engine.resume("new")).toBe(episode);
  });

  it("that gave way while it ran on counts as abandoned no more once it ends", async () => {
    const { engine } = testEngine();
    const first = await engine.rank(request());
    await engine.suspend(first.episode, { alias: "thread" });
    await engine.resume("thread");
    const next = await engine.rank(request());
    await engine.suspend(next.episode, { alias: "thread" });
    expect((await engine.status()).episodes).toMatchObject({ suspended: 1, abandoned: 1 });
    await engine.end(first.episode, { reward: true });
    expect((await engine.explain(first.episode))?.state).toBe("ended");
    expect((await engine.status()).episodes).toMatchObject({ suspended: 1, abandoned: 0 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});

describe("an episode that two processes have resumed", () => {
  /** An episode with one exposure that waits, resumed by two processes. */
  async function resumedTwice(wrap: (store: Store) => Store = (store) => store) {
    const store = memoryStore();
    const before = testEngine({ store, prefix: "before" }).engine;
    const { episode } = await before.rank(request({ topK: 1 }));
    await before.suspend(episode, { alias: "thread" });
    const [first, second] = ["first", "second"].map((prefix) => testEngine({ store: wrap(store), prefix })) as [
      TestEngine,
      TestEngine,
    ];
    for (const { engine } of [first, second]) expect(await engine.resume("thread")).toBe(episode);
    const only = { candidates: [{ id: "only the second", similarity: 1 }] };
    await second.engine.rank(request({ episode, topK: 1, ...only }));
    return { store, episode, first, second };
  }

  it("belongs to the first that ends it: the second is refused, and what it alone showed is not credited", async () => {
    const { episode, first, second } = await resumedTwice();
    await first.engine.end(episode, { reward: true });
    await expect(second.engine.end(episode, { reward: false })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
      message: expect.stringContaining("another process"),
      details: { episode },
    });
    expect(await evidenceIn(first.engine)).toEqual({ d0: 1 });
    expect(await second.engine.explain(episode)).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    expect((await second.engine.status()).episodes).toEqual({ open: 0, recorded: 1, suspended: 0, abandoned: 0 });

    // Its outcome can be added as one of any reporter.
    await second.engine.report(episode, { reward: false, tier: "verified" });
    expect(await second.engine.explain(episode)).toMatchObject({ outcome: { reward: 0, tier: "verified" } });
    expect(await replay(first.engine)).toMatchObject({ identical: true });
  });

  it("answers the second with the first receipt where both give the same outcome under one key", async () => {
    const { episode, first, second } = await resumedTwice();
    const outcome = { reward: true, idempotencyKey: "run" };
    const { seq } = (await first.engine.end(episode, outcome)) as OutcomeReceipt;
    expect(await second.engine.end(episode, outcome)).toEqual({ status: "duplicate", episode, seq });
    expect(await evidenceIn(first.engine)).toEqual({ d0: 1 });
  });

  it("belongs to the first that records something, also a report, another suspension or an outcome in an outbox", async () => {
    const reported = await resumedTwice();
    await reported.second.engine.report(reported.episode, { reward: true });
    await expect(reported.first.engine.suspend(reported.episode, { alias: "later" })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
    });

    const suspended = await resumedTwice();
    await suspended.second.engine.suspend(suspended.episode, { alias: "later" });
    await expect(suspended.first.engine.report(suspended.episode, { reward: true })).rejects.toMatchObject({
      code: "UNKNOWN_EPISODE",
    });
    expect(await suspended.first.engine.resume("later")).toBe(suspended.episode);
    await suspended.first.engine.end(suspended.episode, { reward: true });
    expect(await evidenceIn(suspended.first.engine)).toEqual({ d0: 0.5, "only the second": 0.5 });

    const queued = await resumedTwice((store) => withOutbox(store, memoryOutbox()));
    await queued.first.engine.end(queued.episode, { reward: true });
    await expect(queued.second.engine.end(queued.episode)).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });

  it("does not become abandoned because the second never ends it", async () => {
    const { episode, first, second } = await resumedTwice();
    await first.engine.end(episode, { reward: true });
    second.clock.now += 2 * DAY;
    const { episode: other } = await second.engine.rank(request());
    await second.engine.end(other);
    expect((await second.engine.status()).episodes).toEqual({ open: 0, recorded: 2, suspended: 0, abandoned: 0 });
    expect(second.logs).toEqual([]);
  });

  it("is folded again by another learner, which cannot read how it began", async () => {
    const { store, engine, clock } = testEngine();
    const { episode } = await engine.rank(request({ topK: 1 }));
    await engine.suspend(episode, { alias: "thread" });
    clock.now += DAY;
    const later = testEngine({ store, prefix: "later" });
    later.clock.now = clock.now;
    await later.engine.resume("thread");
    for (const id of ["second", "third"]) {
      await later.engine.rank(request({ episode, topK: 1, candidates: [{ id, similarity: 1 }] }));
      await later.engine.report(episode, { reward: true });
    }
    expect(await compact(later.engine, { namespace: "default", olderThan: 1 })).toMatchObject({ dropped: 1 });
    const other = testEngine({ store, prefix: "other", learner: qValue() as Learner }).engine;
    expect(await replay(other, { write: true })).toMatchObject({ written: true });
    expect(await replay(other)).toMatchObject({ identical: true });
  });
});
