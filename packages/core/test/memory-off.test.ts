import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/index.js";
import { replay } from "../src/maintenance/index.js";
import { ids, oneRun, request, testEngine } from "./support/test-engine.js";

describe("an episode with memory off", () => {
  it("is shown nothing, says so, counts for the lift of memory, and teaches nothing", async () => {
    const { engine } = testEngine({ memoryOff: 1 });
    const ranking = await engine.rank(request({ aliases: ["run"] }));
    expect(ranking).toMatchObject({ items: [], memoryOff: true, order: "host", episode: "episode-1", exposure: 0 });
    await engine.end(ranking.episode, { reward: true });
    const [exposure] = (await engine.explain("run"))?.exposures ?? [];
    expect(exposure).toMatchObject({ memoryOff: true, items: [] });
    expect(new Set(exposure?.notShown.map(({ reason }) => reason))).toEqual(new Set(["memory-off"]));
    expect(await engine.status()).toMatchObject({ taught: 0, memoryLift: { episodes: { shown: 0, off: 1 } } });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("is shown what a run cannot do without", async () => {
    const { engine } = testEngine({ memoryOff: 1 });
    const tools = await engine.rank(request({ required: true, collection: "tools" }));
    expect(ids(tools)).toEqual(["d0", "d1", "d2"]);
    expect(tools.memoryOff).toBeUndefined();
    expect(ids(await engine.rank(request({ episode: tools.episode })))).toEqual([]);
    await engine.end(tools.episode, { reward: true });
    expect(await engine.status()).toMatchObject({ taught: 1, memoryLift: { episodes: { shown: 0, off: 1 } } });

    const later = await engine.rank(request({ required: true, collection: "tools" }));
    await engine.report(later.episode, { reward: true });
    expect((await engine.status()).memoryLift?.episodes).toMatchObject({ off: 1 });
    expect(ids(await engine.rank(request({ episode: later.episode })))).toEqual([]);
    await engine.end(later.episode);
    expect((await engine.status()).memoryLift?.episodes).toMatchObject({ shown: 0, off: 2 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("is none where a run has retrieved nothing but what it cannot do without", async () => {
    for (const memoryOff of [0.5, 1]) {
      const { engine } = testEngine({ memoryOff });
      for (let run = 0; run < 20; run++) {
        const episode = await oneRun(engine, request({ required: true, collection: "tools" }), { reward: true });
        expect((await engine.explain(episode))?.exposures[0]).not.toHaveProperty("memoryOff");
      }
      expect((await engine.status()).memoryLift).toBeUndefined();
    }
  });

  it("is never drawn for a ranking that is not recorded, or with a share of 0", async () => {
    expect(ids(await testEngine({ memoryOff: 1 }).engine.rank(request({ record: false })))).toHaveLength(3);
    const { engine } = testEngine();
    await engine.end((await engine.rank(request())).episode, { reward: true });
    expect((await engine.status()).memoryLift).toBeUndefined();
  });

  it("is drawn as a whole, also after a suspend and in a process with another share", async () => {
    const store = memoryStore();
    const draws = new Set<boolean>();
    for (let run = 0; run < 20; run++) {
      const first = testEngine({ store, prefix: `run ${run}`, memoryOff: 0.5 }).engine;
      const opened = await first.rank(request());
      expect((await first.rank(request({ episode: opened.episode }))).memoryOff).toBe(opened.memoryOff);
      await first.suspend(opened.episode, { alias: "thread" });
      const second = testEngine({ store, prefix: `later ${run}`, memoryOff: run % 2 }).engine;
      const episode = (await second.resume("thread")) as string;
      expect((await second.rank(request({ episode }))).memoryOff).toBe(opened.memoryOff);
      await second.end(episode);
      draws.add(opened.memoryOff === true);
    }
    expect(draws).toEqual(new Set([true, false]));
  });

  it("leaves the holdout of order its share of the others", async () => {
    const { engine } = testEngine({ memoryOff: 0.5, holdout: 0.5 });
    const drawn = { off: 0, held: 0, learned: 0 };
    for (let run = 0; run < 1_000; run++) {
      const { memoryOff, heldOut } = await engine.rank(request());
      expect(memoryOff && heldOut).toBeFalsy();
      drawn[memoryOff ? "off" : heldOut ? "held" : "learned"] += 1;
    }
    // Four standard deviations.
    expect(Math.abs(drawn.off - 500)).toBeLessThan(64);
    expect(Math.abs(drawn.held - drawn.learned)).toBeLessThan(2 * 45);
  });
});

it("the lift of memory is what showing memories adds, with its interval", async () => {
  const { engine } = testEngine({ holdout: 0, memoryOff: 0.3 });
  for (let run = 0; run < 200; run++) {
    const ranking = await engine.rank(request());
    await engine.end(ranking.episode, { reward: ids(ranking).length > 0 });
  }
  const { memoryLift, lift } = await engine.status();
  expect(lift).toBeUndefined();
  expect(memoryLift).toMatchObject({ success: { shown: 1, off: 0 }, lift: { difference: 1 } });
});
