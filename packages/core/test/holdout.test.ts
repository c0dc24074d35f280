import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LiftReport, memoryStore, type RankRequest, type Store } from "../src/index.js";
import { type HoldoutCounts, REWARD_UNITS } from "../src/ledger/holdout-counts.js";
import { decodeStats } from "../src/ledger/stats-record.js";
import { replay } from "../src/maintenance/index.js";
import { ids, oneRun, request, snapshot, testEngine } from "./support/test-engine.js";

/** Lets an engine learn that the first three mislead, so that learned and host's order differ. */
async function teach(engine: ReturnType<typeof testEngine>["engine"]): Promise<void> {
  for (let run = 0; run < 30; run++) await oneRun(engine, request({ keepOrder: true }), { reward: false });
}

/** The sums behind the lift, of a ledger in which every episode was held out. */
async function heldCounts(store: Store): Promise<unknown> {
  return (await counts(store)).map(({ held }) => held);
}

async function counts(store: Store): Promise<readonly HoldoutCounts[]> {
  const [bytes] = await store.readStates("default", "stats", ["namespace"]);
  return decodeStats(bytes as Uint8Array).holdout ?? [];
}

describe("a held-out episode", () => {
  it("is served in the host's order, says so, and teaches as all others do", async () => {
    const store = memoryStore();
    await teach(testEngine({ store, prefix: "past" }).engine);
    const learned = testEngine({ store, prefix: "learned" }).engine;
    expect(ids(await learned.rank(request({ record: false })))).not.toEqual(["d0", "d1", "d2"]);

    const { engine } = testEngine({ store, prefix: "held", holdout: 1 });
    const ranking = await engine.rank(request({ aliases: ["run"] }));
    expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
    expect(ranking).toMatchObject({ order: "host", heldOut: true });
    expect((await engine.explain("run"))?.exposures).toMatchObject([{ heldOut: true }]);
    await engine.end(ranking.episode, { reward: true });
    expect((await engine.explain("run"))?.exposures).toMatchObject([{ heldOut: true }]);
    expect(await engine.status()).toMatchObject({ taught: 31, lift: { episodes: { learned: 0, holdout: 1 } } });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps the terms of its items, so that people see what learning would have added", async () => {
    const store = memoryStore();
    await teach(testEngine({ store, prefix: "past" }).engine);
    const { items } = await testEngine({ store, prefix: "held", holdout: 1 }).engine.rank(request());
    expect(items[0]).toMatchObject({ id: "d0", index: 0 });
    expect(items[0]?.learned).toBeLessThan(0);
  });

  it("is never drawn for a ranking that is not recorded, a disabled engine or a holdout of 0", async () => {
    const store = memoryStore();
    await teach(testEngine({ store, prefix: "past" }).engine);
    const { engine } = testEngine({ store, prefix: "all", holdout: 1 });
    const preview = await engine.rank(request({ record: false }));
    expect(preview.order).toBe("learned");
    expect(preview.heldOut).toBeUndefined();
    const off = await testEngine({ store, prefix: "off", holdout: 1, enabled: false }).engine.rank(request());
    expect(off.heldOut).toBeUndefined();
    const plain = testEngine({ store, prefix: "plain" }).engine;
    await oneRun(plain, request(), { reward: true });
    expect((await plain.status()).lift).toBeUndefined();
  });

  it("is drawn as a whole: every exposure alike, also after a suspend and in a process with another share", async () => {
    const store = memoryStore();
    await teach(testEngine({ store, prefix: "past" }).engine);
    const draws: boolean[] = [];
    for (let run = 0; run < 40; run++) {
      const first = testEngine({ store, prefix: `run ${run}`, holdout: 0.5 }).engine;
      const opened = await first.rank(request({ aliases: [`alias ${run}`] }));
      const again = await first.rank(request({ episode: opened.episode }));
      expect(again.heldOut).toBe(opened.heldOut);
      await first.suspend(opened.episode, { alias: "thread" });
      const second = testEngine({ store, prefix: `later ${run}`, holdout: run % 2 }).engine;
      const episode = (await second.resume("thread")) as string;
      const resumed = await second.rank(request({ episode }));
      expect(resumed.heldOut).toBe(opened.heldOut);
      await second.end(episode, { reward: true });
      draws.push(opened.heldOut === true);
    }
    expect(new Set(draws)).toEqual(new Set([true, false]));
    const { lift } = await testEngine({ store }).engine.status();
    const held = draws.filter(Boolean).length;
    expect(lift?.episodes).toMatchObject({ learned: 40 - held, holdout: held });
  });

  it("is drawn by its id alone, about as often as the share says", async () => {
    for (const share of [0.1, 0.5, 0.9]) {
      const [a, b] = [testEngine({ holdout: share }).engine, testEngine({ holdout: share }).engine];
      let held = 0;
      for (let run = 0; run < 1_000; run++) {
        const left = (await a.rank(request())).heldOut === true;
        expect((await b.rank(request())).heldOut === true).toBe(left);
        if (left) held += 1;
      }
      // Four standard deviations.
      expect(Math.abs(held / 1_000 - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / 1_000));
    }
  });

  it("stays held out at a larger share", async () => {
    const [small, large] = [testEngine({ holdout: 0.2 }).engine, testEngine({ holdout: 0.4 }).engine];
    for (let run = 0; run < 300; run++) {
      const held = (await small.rank(request())).heldOut;
      expect((await large.rank(request())).heldOut === true || !held).toBe(true);
    }
  });
});

describe("lift", () => {
  /** A world in which d0 misleads for good and everything else helps. */
  const live = async (engine: ReturnType<typeof testEngine>["engine"], runs: number): Promise<void> => {
    for (let run = 0; run < runs; run++) {
      const ranking = await engine.rank(request({ topK: 1 }));
      await engine.end(ranking.episode, { reward: ids(ranking)[0] !== "d0" });
    }
  };

  it("is what learned order adds, with its interval, once both arms hold enough rewards", async () => {
    const { engine } = testEngine({ holdout: 0.25 });
    await live(engine, 20);
    const early = (await engine.status()).lift;
    expect(early?.lift).toBe("not enough");
    expect(early?.success).toBeUndefined();
    await live(engine, 300);
    const late = (await engine.status()).lift;
    expect(late?.success?.holdout).toBe(0);
    expect(late?.success?.learned).toBeGreaterThan(0.9);
    if (typeof late?.lift !== "object") throw new Error("There is no lift.");
    expect(late.lift.difference).toBeGreaterThan(0.9);
    expect(late.lift.low).toBeGreaterThan(0.8);
    expect(late.lift.high).toBeGreaterThan(late.lift.difference);
  });

  it("counts the reward that counts, once, whatever tiers and weights have spoken before", async () => {
    const runs = async (corrected: boolean): Promise<unknown> => {
      const { engine, store } = testEngine({ holdout: 1 });
      for (let run = 0; run < 20; run++) {
        const { episode } = await engine.rank(request({ aliases: [`run ${run}`] }));
        if (corrected) await engine.end(episode, { reward: (run % 7) / 7, tier: "completed", weight: 0.1 });
        else await engine.end(episode);
        await engine.report(`run ${run}`, { reward: (run % 3) / 3, tier: "verified" });
        if (corrected) await engine.report(`run ${run}`, { reward: 1, tier: "user" });
      }
      return heldCounts(store);
    };
    expect(await runs(true)).toEqual(await runs(false));
  });

  it("counts an episode that was reported before it showed anything", async () => {
    const { engine } = testEngine({ holdout: 1 });
    const episode = engine.open();
    await engine.report(episode, { reward: true });
    expect((await engine.status()).lift).toBeUndefined();
    await engine.rank(request({ episode }));
    await engine.end(episode);
    expect((await engine.status()).lift?.episodes).toMatchObject({ learned: 0, holdout: 1 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("counts a reward once that came before the episode's last exposures", async () => {
    const { engine } = testEngine({ holdout: 0.5 });
    for (let run = 0; run < 4; run++) {
      const { episode } = await engine.rank(request());
      await engine.report(episode, { reward: true });
      await engine.rank(request({ episode, candidates: [{ id: "late", similarity: 1 }] }));
      await engine.end(episode);
    }
    const episodes = (await engine.status()).lift?.episodes;
    expect((episodes?.learned ?? 0) + (episodes?.holdout ?? 0)).toBe(4);
  });

  it("compares episodes of one share only with each other, and keeps as many shares as oar has", async () => {
    const store = memoryStore();
    // oar's own, 0.05 to 0.9, after another one.
    for (let place = 0; place <= 18; place++) {
      const holdout = place === 0 ? 0.01 : place / 20;
      const { engine } = testEngine({ store, prefix: `at ${place}`, holdout });
      for (let run = 0; run < 10; run++) await oneRun(engine, request({ aliases: [`run ${place}`] }), { reward: true });
    }
    const { engine } = testEngine({ store, prefix: "again", holdout: 0.01 });
    const sum = async (): Promise<number> =>
      (await counts(store)).reduce((all, { learned, held }) => all + learned.episodes + held.episodes, 0);
    expect(await sum()).toBe(180);
    // The first share comes back: what is corrected of its first time must not be taken from its second.
    await engine.end((await engine.rank(request())).episode, { reward: true });
    expect(await sum()).toBe(171);
    await engine.report("run 0", { reward: false, tier: "verified" });
    expect(await sum()).toBe(171);
    const again = (await counts(store)).at(-1);
    expect((again?.learned.sum ?? 0) + (again?.held.sum ?? 0)).toBe(REWARD_UNITS);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("counts no episode towards the minimum that has no other of its share to be compared with", async () => {
    const store = memoryStore();
    const measured = testEngine({ store, prefix: "measured", holdout: 1 }).engine;
    await live(measured, 40);
    expect((await measured.status()).lift?.episodes).toMatchObject({ learned: 0, holdout: 40 });
    const { engine } = testEngine({ store, prefix: "later", holdout: 0.2 });
    await live(engine, 60);
    const { episodes, lift } = (await engine.status()).lift as LiftReport;
    expect(lift).toBe("not enough");
    expect(episodes.learned + episodes.holdout).toBe(60);
    expect(episodes.holdout).toBeLessThan(episodes.needed);
  });

  it("leaves exactly what was there, whatever rewards come and are taken back", async () => {
    const reward = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(reward, reward), { minLength: 1, maxLength: 8 }), async (rewards) => {
        const last = testEngine({ holdout: 1 });
        const both = testEngine({ holdout: 1 });
        for (const [first, second] of rewards) {
          const a = (await last.engine.rank(request())).episode;
          await last.engine.end(a, { reward: second });
          const b = (await both.engine.rank(request())).episode;
          await both.engine.end(b, { reward: first });
          await both.engine.report(b, { reward: second });
        }
        expect(await heldCounts(both.store)).toEqual(await heldCounts(last.store));
        expect(await replay(both.engine)).toMatchObject({ identical: true });
      }),
      { numRuns: 50 },
    );
  });

  it("writes nothing about holdouts into a ledger that never held one out", async () => {
    const states = async (options: Partial<RankRequest>): Promise<unknown> => {
      const { engine, store } = testEngine();
      await engine.end((await engine.rank(request(options))).episode, { reward: true });
      return snapshot(store);
    };
    expect(JSON.stringify(await states({}))).not.toContain(Buffer.from("holdout").toString("hex"));
  });
});
