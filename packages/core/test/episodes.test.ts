import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { memoryStore, type RankRequest } from "../src/index.js";
import { exportState, replay } from "../src/maintenance/index.js";
import { heldStore } from "./support/held-store.js";
import { candidates, DAY, evidenceIn, ids, oneRun, request, testEngine, testEpisode } from "./support/test-engine.js";

describe("an episode", () => {
  it("opens before its first exposure, collects several, and is found by its id and its aliases", async () => {
    const { engine } = testEngine();
    const episode = engine.open({ aliases: ["trace"] });
    await engine.rank(request({ episode, aliases: ["run"] }));
    await engine.rank(request({ episode, collection: "skills" }));
    engine.alias(episode, ["thread"]);
    for (const reference of [episode, "trace", "run", "thread"]) {
      expect((await engine.explain(reference))?.exposures.map(({ collection }) => collection)).toEqual([
        "default",
        "skills",
      ]);
    }
    await engine.end(episode, { reward: true });
    for (const reference of [episode, "trace", "run", "thread"]) {
      expect(await engine.explain(reference)).toMatchObject({ episode, state: "ended", outcome: { reward: 1 } });
      expect(await engine.report(reference, { tier: "verified", reward: 1 })).toMatchObject({
        status: "committed",
        episode,
      });
    }
  });

  it("takes feedback after its end, by id or alias, also days later", async () => {
    const { engine, clock, episode } = await testEpisode({ aliases: ["run"] });
    expect(await engine.end(episode)).toBeUndefined();
    clock.now += 29 * DAY;
    expect(await engine.report("run", { reward: false })).toEqual({ status: "committed", episode, seq: 2 });
    expect(await engine.status()).toMatchObject({ taught: 1 });
  });

  it("stays open after a report, and later exposures count", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    await engine.report(episode, { reward: false });
    expect(await engine.explain(episode)).toMatchObject({ state: "open" });
    const later = await engine.rank(request({ episode, topK: 1, candidates: [{ id: "late", similarity: 1 }] }));
    expect(later.exposure).toBe(1);
    await engine.end(episode);
    const view = await engine.explain(episode);
    expect(view?.exposures.map(({ items }) => items.map(({ id }) => id))).toEqual([["d0"], ["late"]]);
    // The outcome of the report is shared again: half for each exposure.
    expect(await evidenceIn(engine)).toEqual({ d0: 0.5, late: 0.5 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("shows what was reported on it while it goes on, also after it was suspended", async () => {
    const { engine, episode } = await testEpisode({ aliases: ["run"] });
    expect((await engine.explain("run"))?.outcome).toBeUndefined();
    await engine.report("run", { reward: false, note: "wrong" });
    const first = { reward: 0, tier: "user", source: "user", note: "wrong" };
    expect(await engine.explain("run")).toMatchObject({ state: "open", outcome: first });
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    expect(await engine.explain("run")).toMatchObject({ state: "open", outcome: first });
    await engine.report("run", { reward: true });
    expect((await engine.explain("run"))?.outcome).toEqual({ reward: 1, tier: "user", source: "user" });
  });

  it("leaves no trace when it never showed anything", async () => {
    const { engine, store } = testEngine();
    const episode = engine.open({ aliases: ["run"] });
    expect(await engine.end(episode, { reward: true })).toBeUndefined();
    expect(await store.head("default")).toBe(0);
    expect(await engine.explain("run")).toBeUndefined();
    await expect(engine.report("run", { reward: true })).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
  });

  it("that somebody spoke about before it showed anything credits what it shows later", async () => {
    const { engine } = testEngine();
    const episode = engine.open({ aliases: ["run"] });
    expect(await engine.report("run", { reward: false, tier: "verified" })).toMatchObject({
      status: "committed",
      episode,
    });
    await engine.rank(request({ episode, topK: 1 }));
    await engine.end(episode, { reward: true, tier: "completed" });
    expect(await engine.explain("run")).toMatchObject({ outcome: { reward: 0, tier: "verified" } });
    expect(await engine.status()).toMatchObject({
      taught: 1,
      collections: [{ best: [{ id: "d0", evidence: 1 }], worst: [] }],
    });
    expect((await engine.status()).collections[0]?.best[0]?.utility).toBeLessThan(0);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("that ended without having shown anything after all keeps the better word, and still takes feedback in time", async () => {
    const { engine, clock } = testEngine();
    const episode = engine.open({ aliases: ["run"] });
    await engine.report("run", { reward: false });
    expect(await engine.explain("run")).toMatchObject({ state: "open" });
    await engine.end(episode, { reward: 0.5, tier: "verified" });
    expect(await engine.explain("run")).toMatchObject({ state: "ended", outcome: { reward: 0.5, tier: "verified" } });
    const unjudged = engine.open();
    await engine.report(unjudged, { reward: true });
    await engine.end(unjudged);
    expect(await engine.explain(unjudged)).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    expect(await replay(engine)).toMatchObject({ identical: true });
    clock.now += 29 * DAY;
    expect(await engine.report("run", { reward: true })).toMatchObject({ status: "committed" });
    clock.now += 2 * DAY;
    await expect(engine.report("run", { reward: true })).rejects.toMatchObject({ code: "OUTCOME_TOO_LATE" });
  });

  it("is found by its alias in its own namespace only, also where names run together alike", async () => {
    const { engine } = testEngine();
    const mine = await engine.rank(request({ namespace: "a", aliases: ["bc"] }));
    expect(await engine.explain("c", { namespace: "ab" })).toBeUndefined();
    const other = await engine.rank(request({ namespace: "ab", aliases: ["c"] }));
    expect((await engine.explain("bc", { namespace: "a" }))?.episode).toBe(mine.episode);
    expect((await engine.explain("c", { namespace: "ab" }))?.episode).toBe(other.episode);
  });

  it("may show nothing in an exposure: no candidates, or topK 0", async () => {
    const { engine } = testEngine();
    const { episode, items } = await engine.rank(request({ candidates: [] }));
    expect(items).toEqual([]);
    expect((await engine.rank(request({ episode, topK: 0 }))).items).toEqual([]);
    await engine.rank(request({ episode, topK: 1 }));
    await engine.end(episode, { reward: true });
    const [collection] = (await engine.status()).collections;
    expect(collection?.best).toMatchObject([{ id: "d0", evidence: 1 }]);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps every alias that was added between reports", async () => {
    const { engine, episode } = await testEpisode();
    for (const alias of ["first", "second", "third"]) {
      engine.alias(episode, [alias]);
      await engine.report(episode, { reward: true });
    }
    await engine.end(episode);
    for (const alias of ["first", "second", "third"]) {
      expect(await engine.explain(alias)).toMatchObject({ episode });
    }
  });

  it("is not hidden from its alias by the id of another namespace's episode", async () => {
    const { engine } = testEngine();
    const other = await engine.rank(request({ namespace: "other" }));
    const mine = await engine.rank(request({ aliases: [other.episode] }));
    expect((await engine.explain(other.episode))?.episode).toBe(mine.episode);
    expect((await engine.explain(other.episode, { namespace: "other" }))?.episode).toBe(other.episode);
  });

  it("hands an alias over to the last episode that took it", async () => {
    const { engine } = testEngine();
    await oneRun(engine, request({ aliases: ["thread"] }));
    const second = await engine.rank(request({ aliases: ["thread"] }));
    expect((await engine.explain("thread"))?.episode).toBe(second.episode);
    await engine.end(second.episode);
    expect((await engine.explain("thread"))?.episode).toBe(second.episode);
  });

  it("keeps an alias that it took from an open one, when that ends", async () => {
    const { engine } = testEngine();
    const first = await engine.rank(request({ aliases: ["thread"] }));
    const second = await engine.rank(request({ aliases: ["thread"] }));
    await engine.end(first.episode);
    expect((await engine.explain("thread"))?.episode).toBe(second.episode);
    expect(await engine.report("thread", { reward: true })).toMatchObject({ episode: second.episode });
  });
});

describe("credit among the exposures of an episode", () => {
  const evidenceOf = async (engine: ReturnType<typeof testEngine>["engine"]): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const { collection, best, worst } of (await engine.status()).collections) {
      for (const { id, evidence } of [...best, ...worst]) found[`${collection}/${id}`] = evidence;
    }
    return found;
  };

  it("is shared by halves between two", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    await engine.rank(request({ episode, topK: 1, collection: "skills" }));
    await engine.end(episode, { reward: true });
    expect(await evidenceOf(engine)).toEqual({ "default/d0": 0.5, "skills/d0": 0.5 });
  });

  it("passes over an exposure that is marked as uncredited", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    const retry = await engine.rank(request({ episode, topK: 1, candidates: [{ id: "other", similarity: 1 }] }));
    await engine.end(episode, { reward: true }, { uncredited: [0] });
    expect(retry.exposure).toBe(1);
    expect(await evidenceOf(engine)).toEqual({ "default/other": 1 });
    expect((await engine.explain(episode))?.exposures.map(({ credited }) => credited)).toEqual([false, true]);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("counts a memory once that a list holds twice, at its largest weight", async () => {
    const { engine, store } = testEngine();
    const list = [
      { id: "a", similarity: 0.4 },
      { id: "a", similarity: 0.9 },
      { id: "b", similarity: 0.8 },
      { id: "c", similarity: 0 },
    ];
    await oneRun(engine, { candidates: list, topK: 3, vector: [1, 0] }, { reward: true });
    const evidence = await evidenceOf(engine);
    expect(evidence["default/a"]).toBe(1);
    expect(evidence["default/b"]).toBeLessThan(1);
    expect((await engine.status()).collections).toMatchObject([{ memories: 2 }]);
    const [state] = await store.readStates("default", "memory:default", ["a"]);
    // Behind the text's fingerprint: in how many exposures it was shown.
    expect(new DataView((state as Uint8Array<ArrayBuffer>).buffer).getUint32(4, true)).toBe(1);
  });

  it("goes only to what was shown after all", async () => {
    const { engine } = testEngine();
    const ranking = await engine.rank(request());
    engine.narrow(ranking.episode, ranking.exposure, ["d1", "d7"]);
    await engine.end(ranking.episode, { reward: true });
    expect(Object.keys(await evidenceOf(engine))).toEqual(["default/d1"]);
    await expect(engine.report(ranking.episode, { helpful: ["d0"] })).rejects.toMatchObject({ code: "NOT_SHOWN" });
    expect((await engine.explain(ranking.episode))?.exposures[0]?.items.map(({ id }) => id)).toEqual(["d1"]);
  });

  it("ignores a narrowing of what is recorded already or never was", async () => {
    const { engine } = testEngine();
    const ranking = await engine.rank(request({ topK: 1 }));
    await engine.report(ranking.episode, { reward: true });
    engine.narrow(ranking.episode, 0, []);
    engine.narrow(ranking.episode, 7, []);
    expect((await engine.explain(ranking.episode))?.exposures[0]?.items).toHaveLength(1);
    await engine.end(ranking.episode);
    expect(Object.keys(await evidenceOf(engine))).toEqual(["default/d0"]);
  });
});

describe("calls at the same time", () => {
  it("a report and an explanation wait for the end that is under way", async () => {
    const { store, hold, release } = heldStore("commit");
    const { engine, episode } = await testEpisode({ aliases: ["run"] }, { store });
    hold();
    const ending = engine.end(episode, { reward: true, tier: "completed" });
    const reported = engine.report("run", { reward: false, tier: "verified" });
    const explained = engine.explain("run");
    await turn();
    release();
    await expect(ending).resolves.toMatchObject({ status: "committed", seq: 2 });
    await expect(reported).resolves.toMatchObject({ status: "committed", seq: 3 });
    await expect(explained).resolves.toMatchObject({ state: "ended" });
  });

  it.each([
    ["end and report", 1],
    ["report and end", 0],
  ])("%s: both are recorded, the better tier counts", async (order, corrections) => {
    const { engine, episode } = await testEpisode({ aliases: ["run"] });
    const end = () => engine.end(episode, { reward: true, tier: "completed" });
    const report = () => engine.report("run", { reward: false, tier: "verified" });
    const calls = order === "end and report" ? [end(), report()] : [report(), end()];
    expect((await Promise.all(calls)).map((receipt) => receipt?.status)).toEqual(["committed", "committed"]);
    expect(await engine.explain("run")).toMatchObject({ state: "ended", outcome: { reward: 0, tier: "verified" } });
    expect(await engine.status()).toMatchObject({
      episodes: { open: 0, recorded: 1 },
      outcomes: { completed: 1, verified: 1 },
      taught: 1,
      corrections,
    });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("many reports with votes and exposures: nothing is lost and nothing counts twice", async () => {
    const { engine, episode } = await testEpisode();
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await engine.rank(request({ episode, candidates: candidates(3), aliases: [`alias ${i}`] }));
        await engine.report(episode, { reward: i % 2 === 0, helpful: ["d0"] });
      }),
    );
    await engine.end(episode);
    for (let i = 0; i < 20; i++) expect((await engine.explain(`alias ${i}`))?.exposures).toHaveLength(21);
    expect(await engine.status()).toMatchObject({ episodes: { recorded: 1 }, outcomes: { user: 20 }, taught: 1 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("two ends: one succeeds, the other is told that the episode is not open", async () => {
    const { engine, episode } = await testEpisode();
    const results = await Promise.allSettled([
      engine.end(episode, { reward: true }),
      engine.end(episode, { reward: true }),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 1 } });
  });

  it("rank on an episode that is being ended is refused, and the ranking's candidates stay with the host", async () => {
    const { engine, episode } = await testEpisode();
    const ending = engine.end(episode, { reward: true });
    await expect(engine.rank(request({ episode }))).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    await ending;
    expect(ids(await engine.rank(request()))).toHaveLength(3);
  });
});

describe("an episode that retrieves hundreds of times", () => {
  const wide = (run: number, rest = ".".repeat(30)): RankRequest => ({
    candidates: Array.from({ length: 50 }, (_, i) => ({
      id: `${i}-${run} memory${rest}`,
      similarity: 1 - i / 50,
    })),
    topK: 10,
    vector: Array.from({ length: 256 }, (_, i) => Math.cos(i + run)),
  });

  it("is recorded in several entries where one would be too large, and credited as a whole", async () => {
    const { engine, store } = testEngine();
    const episode = engine.open({ aliases: ["run"] });
    for (let run = 0; run < 400; run++) await engine.rank({ ...wide(run), episode });
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    const entries = await store.readEntries("default", { limit: 10 });
    expect(entries.map(({ type }) => type)).toEqual(["exposure", "exposure", "outcome"]);
    const explained = await engine.explain("run");
    expect(explained).toMatchObject({ state: "ended", outcome: { reward: 1 } });
    expect(explained?.exposures).toHaveLength(400);
    expect((await exportState(engine)).memories).toHaveLength(4_000);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("has no more room when it goes on in another process than in one", async () => {
    const record = async (engine: ReturnType<typeof testEngine>["engine"], episode: string, runs: number) => {
      let recorded = 0;
      for (let run = 0; run < runs; run++) {
        const ranking = await engine.rank({ ...wide(run % 20), episode });
        if (ranking.episode !== "") recorded += 1;
      }
      return recorded;
    };
    const { engine: alone } = testEngine();
    const room = await record(alone, alone.open(), 700);
    expect(room).toBeLessThan(700);
    const store = memoryStore();
    const { engine: before } = testEngine({ store, prefix: "before" });
    const episode = before.open();
    const first = await record(before, episode, 20);
    await before.suspend(episode, { alias: "thread" });
    const { engine: after } = testEngine({ store, prefix: "after" });
    expect(await after.resume("thread")).toBe(episode);
    expect(first + (await record(after, episode, 700))).toBe(room);
    expect(await after.end(episode, { reward: true })).toMatchObject({ status: "committed" });
  });

  it("is credited for as much as can be recorded, says so once, and ranks on", async () => {
    const { engine, logs } = testEngine();
    const episode = engine.open();
    let unrecorded = 0;
    for (let run = 0; run < 200; run++) {
      // Letters of three bytes each.
      const ranking = await engine.rank({ ...wide(run % 20, "憶".repeat(300)), episode });
      expect(ranking.items).toHaveLength(10);
      if (ranking.episode === "") unrecorded += 1;
      // As an application does that reports on the way: all of it is in one record.
      if (run % 20 === 19) await engine.report(episode, { reward: run % 40 === 19 });
    }
    expect(unrecorded).toBeGreaterThan(0);
    expect(await engine.end(episode, { reward: true })).toMatchObject({ status: "committed" });
    expect(await engine.report(episode, { reward: false, tier: "verified" })).toMatchObject({ status: "committed" });
    expect(logs.filter(({ fields }) => fields.code === "EPISODE_FULL")).toHaveLength(1);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});
