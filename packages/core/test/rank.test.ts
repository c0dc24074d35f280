import { describe, expect, it } from "vitest";
import { ENGINE_DEFAULTS, memoryStore } from "../src/index.js";
import { exportState, replay, revoke } from "../src/maintenance/index.js";
import { candidates, ids, oneRun, request, snapshot, testEngine, testEpisode } from "./support/test-engine.js";

describe("fetchSize", () => {
  it("is exactly topK in a namespace without evidence, and 50 or four times as many with it", async () => {
    const { engine } = testEngine();
    expect(await engine.fetchSize({ topK: 4 })).toBe(4);
    const episode = await oneRun(engine, request());
    expect(await engine.fetchSize({ topK: 4 })).toBe(4);
    await engine.report(episode, { reward: true });
    expect(await engine.fetchSize({ topK: 4 })).toBe(50);
    expect(await engine.fetchSize({ topK: 20 })).toBe(80);
    expect(await engine.fetchSize({ namespace: "other", topK: 4 })).toBe(4);
  });

  it("is what is asked for again when all that was learned is revoked", async () => {
    const { engine } = testEngine();
    await engine.end((await engine.rank(request())).episode, { reward: true });
    expect(await engine.fetchSize({ topK: 4 })).toBe(50);
    await revoke(engine, { namespace: "default", source: "user" });
    expect(await engine.fetchSize({ topK: 4 })).toBe(4);
  });

  it("takes the caller's fetchK, never less than topK and never more than 1,000", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode, { reward: true });
    expect(await engine.fetchSize({ topK: 4, fetchK: 11 })).toBe(11);
    expect(await engine.fetchSize({ topK: 4, fetchK: 2 })).toBe(4);
    expect(await engine.fetchSize({ topK: 4, fetchK: 5_000 })).toBe(1_000);
    expect(await engine.fetchSize({ topK: 2_000 })).toBe(2_000);
  });
});

describe("a disabled engine", () => {
  it("Q13: gives the host's order and touches nothing", async () => {
    const store = memoryStore();
    const { engine } = testEngine({ store });
    for (let run = 0; run < 20; run++) await engine.end((await engine.rank(request())).episode, { reward: false });
    expect(ids(await engine.rank(request()))).not.toEqual(["d0", "d1", "d2"]);
    const before = await snapshot(store);
    const disabled = testEngine({ store, enabled: false }).engine;
    expect(disabled.enabled).toBe(false);
    expect(await disabled.fetchSize({ topK: 4 })).toBe(4);
    const ranking = await disabled.rank(request({ aliases: ["run"] }));
    expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
    expect(ranking).toMatchObject({ episode: "", exposure: -1, order: "host" });
    expect(disabled.open()).toBe("");
    await disabled.suspend("", { alias: "thread" });
    expect(await disabled.end("", { reward: true })).toBeUndefined();
    expect(await disabled.report("run", { reward: true })).toEqual({ status: "ignored", episode: "run", seq: 0 });
    await disabled.suspend("", { alias: "thread" });
    expect(await disabled.resume("thread")).toBeUndefined();
    disabled.alias("", ["x"]);
    disabled.narrow("", 0, []);
    expect(await snapshot(store)).toEqual(before);
  });
});

describe("rank with record: false", () => {
  it("ranks as learned, opens nothing and writes nothing", async () => {
    const { engine, store } = testEngine();
    for (let run = 0; run < 20; run++) await engine.end((await engine.rank(request())).episode, { reward: false });
    const before = await snapshot(store);
    const preview = await engine.rank(request({ record: false }));
    expect(preview).toMatchObject({ episode: "", exposure: -1, order: "learned" });
    expect(preview.items.every(({ handle }) => handle === "")).toBe(true);
    expect((await engine.status()).episodes.open).toBe(0);
    await engine.flush();
    expect(await snapshot(store)).toEqual(before);
    const real = await engine.rank(request());
    expect(ids(real)).toEqual(ids(preview));
    expect(real.items.map(({ score }) => score)).toEqual(preview.items.map(({ score }) => score));
  });
});

describe("rank with record: false and more to return than topK", () => {
  it("goes on in the same order, which does not depend on how much is returned", async () => {
    const { engine } = testEngine();
    for (let run = 0; run < 20; run++) await engine.end((await engine.rank(request())).episode, { reward: false });
    const page = await engine.rank(request({ record: false }));
    const all = await engine.rank(request({ record: false, returned: 100 }));
    expect(all.items).toHaveLength(request().candidates.length);
    expect(all.items.slice(0, page.items.length)).toEqual(page.items);
    expect(new Set(ids(all)).size).toBe(all.items.length);
    expect((await engine.rank(request({ returned: 100 }))).items).toHaveLength(page.items.length);
    const disabled = testEngine({ enabled: false }).engine;
    expect((await disabled.rank(request({ record: false, returned: 5 }))).items).toHaveLength(5);
  });
});

describe("rank with keepOrder", () => {
  it("records the host's order as shown, says what learning would add, and learns from it", async () => {
    const { engine } = testEngine();
    for (let run = 0; run < 20; run++) {
      const ranking = await engine.rank(request({ keepOrder: true }));
      expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
      expect(ranking.order).toBe("host");
      await engine.end(ranking.episode, { reward: false });
    }
    const [first] = (await engine.rank(request({ keepOrder: true }))).items;
    expect(first?.learned).toBeLessThan(0);
    expect(first?.evidence).toBeGreaterThan(0);
    expect(ids(await engine.rank(request()))).not.toEqual(["d0", "d1", "d2"]);
  });
});

describe("handles", () => {
  it("number the memories of an episode in the order shown, across its exposures", async () => {
    const { engine } = testEngine();
    const first = await engine.rank(request({ topK: 2 }));
    const second = await engine.rank(
      request({ episode: first.episode, candidates: [{ id: "x", similarity: 1 }, ...candidates(2)], topK: 3 }),
    );
    expect(first.items.map(({ handle }) => handle)).toEqual(["m1", "m2"]);
    expect(second.items.map(({ id, handle }) => [id, handle])).toEqual([
      ["x", "m3"],
      ["d0", "m1"],
      ["d1", "m2"],
    ]);
    expect([first.exposure, second.exposure]).toEqual([0, 1]);
  });

  it("go on from the last one that is still in sight of the reader, also after a resume", async () => {
    const { engine } = testEngine();
    const episode = engine.open({ lastHandle: 7 });
    const first = await engine.rank(request({ episode, topK: 2 }));
    expect(first.items.map(({ handle }) => handle)).toEqual(["m8", "m9"]);
    await engine.suspend(episode, { alias: "thread" });
    await engine.resume("thread");
    const third = { ...candidates(1)[0]!, id: "third" };
    const second = await engine.rank(request({ episode, candidates: [third], topK: 1 }));
    expect(second.items.map(({ handle }) => handle)).toEqual(["m10"]);
    await engine.report(episode, { helpful: ["m9"] });
    expect(() => engine.open({ lastHandle: -1 })).toThrow("lastHandle");
  });

  it.each([
    ["of two collections have one id", ["a", "c"], ["b", "c"]],
    ["and their collections have names that run together alike", ["a", "bc"], ["ab", "c"]],
  ])("differ where memories %s", async (_where, ...memories) => {
    const { engine } = testEngine();
    const episode = engine.open();
    const handles: (string | undefined)[] = [];
    for (const [collection, id = ""] of memories) {
      const { items } = await engine.rank(
        request({ episode, collection, topK: 1, candidates: [{ id, similarity: 1 }] }),
      );
      handles.push(items[0]?.handle);
    }
    expect(handles).toEqual(["m1", "m2"]);
  });

  it("give way in votes to an id that looks like one", async () => {
    const { engine } = testEngine();
    const list = ["m2", "other"].map((id, i) => ({ id, similarity: 1 - i / 10 }));
    const { episode, items } = await engine.rank(request({ topK: 2, candidates: list }));
    expect(items.map(({ id, handle }) => [id, handle])).toEqual([
      ["m2", "m1"],
      ["other", "m2"],
    ]);
    await engine.end(episode, { harmful: ["m2"] });
    expect((await exportState(engine)).memories.map(({ id }) => id)).toEqual(["m2"]);
  });
});

describe("an explanation", () => {
  it("says of an open episode what rank said", async () => {
    const { engine } = testEngine();
    for (let run = 0; run < 10; run++) await engine.end((await engine.rank(request())).episode, { reward: false });
    const ranking = await engine.rank(request({ aliases: ["run"], context: "billing" }));
    const view = await engine.explain("run");
    expect(view).toMatchObject({ episode: ranking.episode, namespace: "default", state: "open" });
    expect(view?.exposures).toMatchObject([
      {
        collection: "default",
        context: "billing",
        learner: "oar@2",
        gate: ranking.gate,
        vectorSource: "host",
        credited: true,
        order: "learned",
        items: ranking.items.map(({ index, ...terms }) => ({ ...terms, hostRank: index + 1 })),
      },
    ]);
  });

  it("says of a recorded episode the same, to the precision of the ledger, with the outcome that counts", async () => {
    const { engine } = testEngine();
    for (let run = 0; run < 10; run++) await engine.end((await engine.rank(request())).episode, { reward: false });
    const ranking = await engine.rank(request({ aliases: ["run"] }));
    await engine.end(ranking.episode, { reward: 0.5, tier: "observed", source: "runtime" });
    const view = await engine.explain("run");
    expect(view).toMatchObject({
      state: "ended",
      outcome: { reward: 0.5, tier: "observed", source: "runtime" },
      exposures: [{ learner: "oar@2", gate: Math.fround(ranking.gate) }],
    });
    view?.exposures[0]?.items.forEach((item, place) => {
      const shown = ranking.items[place] as (typeof ranking.items)[number];
      expect(item).toMatchObject({ id: shown.id, handle: shown.handle, rank: place + 1, hostRank: shown.index + 1 });
      const { similarity, learned, bonus, overlap, unverified } = item;
      expect(item.score).toBe(similarity + learned + bonus + overlap + unverified);
      expect([learned, bonus, overlap]).toEqual([shown.learned, shown.bonus, shown.overlap].map(Math.fround));
      expect(item.score).toBeCloseTo(shown.score, 5);
      expect(item.evidence).toBeCloseTo(shown.evidence, 5);
    });
  });

  it("calls exploration by its name, and keeps it apart from what outcomes taught", async () => {
    const { engine } = testEngine();
    for (let run = 0; run < 20; run++) {
      await oneRun(engine, request({ candidates: candidates(1), topK: 1 }), { reward: run % 4 > 0 });
    }
    const { items, episode } = await engine.rank(request({ topK: 10 }));
    const untouched = items.find(({ id }) => id === "d1");
    expect(untouched).toMatchObject({ learned: 0, overlap: 0, unverified: 0, utility: 0, evidence: 0 });
    expect(untouched?.bonus).toBeGreaterThan(0);
    const view = (await engine.explain(episode))?.exposures[0];
    expect(view).toMatchObject({ order: "learned", notShown: [] });
    expect(view?.scale).toBeGreaterThan(0);
    expect(view?.items.find(({ id }) => id === "d1")?.bonus).toBe(untouched?.bonus);
  });

  it("says why a candidate was not shown", async () => {
    const store = memoryStore();
    const { engine } = testEngine({ store });
    const label = (id: string) => `About ${id}`;
    const list = candidates(6).map((candidate) => ({ ...candidate, label: label(candidate.id) }));
    for (let run = 0; run < 20; run++) {
      const { episode } = await engine.rank(request({ candidates: list, topK: 2, keepOrder: true }));
      await engine.end(episode, { reward: run % 4 === 0, harmful: ["d0"] });
    }
    const reasons = async (run: typeof engine, more: object, kept?: readonly string[]): Promise<unknown> => {
      const { episode, exposure } = await run.rank(request({ candidates: list, topK: 3, ...more }));
      if (kept) run.narrow(episode, exposure, kept);
      const open = (await run.explain(episode))?.exposures[0];
      await run.end(episode);
      const { items = [], notShown = [] } = (await run.explain(episode))?.exposures[0] ?? {};
      expect(open?.notShown.map(({ id, reason }) => [id, reason])).toEqual(
        notShown.map(({ id, reason }) => [id, reason]),
      );
      const ranks = [...items, ...notShown].map(({ rank }) => rank).sort((a, b) => a - b);
      expect(ranks).toEqual([1, 2, 3, 4, 5, 6]);
      for (const one of notShown) {
        expect(one.score).toBeCloseTo(one.similarity + one.shift, 6);
        expect(one.hostRank).toBe(Number(one.id.slice(1)) + 1);
        // Labels are known of memories that were shown at some time.
        expect([undefined, label(one.id)]).toContain(one.label);
      }
      return notShown.map(({ id, rank, reason }) => `${rank} ${id} ${reason}`);
    };
    const learned = await engine.rank(request({ candidates: list, topK: 6, record: false }));
    const [a, b, c, ...rest] = ids(learned);
    expect([a, b, c]).not.toContain("d0");
    const outranked = rest.map((id, i) => `${i + 4} ${id} outranked`);
    expect(await reasons(engine, {})).toEqual(outranked);
    expect(await reasons(engine, {}, [a as string, c as string])).toEqual([`2 ${b} dropped`, ...outranked]);
    const wanted = (id: string) => [a, b, c].includes(id);
    const host = (kept: string) =>
      ["d3", "d4", "d5"].map((id, i) => `${i + 4} ${id} ${wanted(id) ? kept : "outranked"}`);
    expect(await reasons(engine, { keepOrder: true })).toEqual(host("order-kept"));
    const held = testEngine({ store, holdout: 1, prefix: "held" }).engine;
    expect(await reasons(held, {})).toEqual(host("held-out"));
    expect(host("held-out").join()).toContain("held-out");
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("names the votes that count, with tier and source", async () => {
    const { engine, episode } = await testEpisode();
    await engine.report(episode, { helpful: ["d0"], harmful: ["d2"], source: "ann" });
    await engine.end(episode, { helpful: ["d1"], harmful: ["d0"], source: "bob" });
    expect(await engine.explain(episode)).toMatchObject({
      outcome: { reward: null, tier: "user", source: "bob" },
      votes: [
        { id: "d2", vote: "harmful", tier: "user", source: "ann" },
        { id: "d1", vote: "helpful", tier: "user", source: "bob" },
        { id: "d0", vote: "harmful", tier: "user", source: "bob" },
      ],
    });
  });

  it("keeps the rank without learning also for an item from beyond the recorded candidates", async () => {
    const { engine } = testEngine({ recordedCandidates: 2 });
    const list = candidates(30);
    for (let run = 0; run < 5; run++) {
      await oneRun(engine, { candidates: list.slice(29), topK: 1, vector: [1, 0] }, { reward: true, helpful: ["d29"] });
    }
    const ranking = await engine.rank({
      candidates: list.map((item, i) => ({ ...item, similarity: 0.9 - i * 1e-4 })),
      topK: 2,
      vector: [1, 0],
    });
    expect(ids(ranking)).toContain("d29");
    await engine.end(ranking.episode);
    const items = (await engine.explain(ranking.episode))?.exposures[0]?.items;
    expect(items?.map(({ id, hostRank }) => [id, hostRank])).toEqual(
      ranking.items.map(({ id, index }) => [id, index + 1]),
    );
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("keeps all that was shown, however few candidates are recorded", async () => {
    const { engine, episode } = await testEpisode({ topK: 2 }, { recordedCandidates: 1 });
    await engine.end(episode, { reward: true });
    expect((await engine.explain(episode))?.exposures[0]?.items.map(({ id }) => id)).toEqual(["d0", "d1"]);
    expect((await exportState(engine)).memories.map(({ id }) => id).sort()).toEqual(["d0", "d1"]);
  });

  it("knows votes without a reward, and nothing of an unknown reference", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode, { helpful: ["m1"], tier: "self-reported" });
    expect((await engine.explain(episode))?.outcome).toEqual({
      reward: null,
      tier: "self-reported",
      source: "self-reported",
    });
    expect(await engine.explain("nobody")).toBeUndefined();
    expect(await engine.explain(episode, { namespace: "other" })).toBeUndefined();
  });
});

describe("createEngine", () => {
  it("has documented defaults", () => {
    expect(ENGINE_DEFAULTS).toEqual({
      enabled: true,
      onEdit: "discount",
      episodeTtl: 3_600_000,
      maxOpenEpisodes: 10_000,
      outcomeWindow: 30 * 24 * 3_600_000,
      recordedCandidates: 50,
      memoryOff: 0,
      readTimeout: 50,
      writeTimeout: 10_000,
    });
  });

  it("treats an option that is there but undefined as absent", async () => {
    const { engine } = testEngine({ enabled: undefined as unknown as boolean, onEdit: undefined as unknown as "keep" });
    expect((await engine.rank(request())).episode).not.toBe("");
  });
});

describe("a learned ranking", () => {
  it("keeps the host's order among equals", async () => {
    const { engine } = testEngine();
    const twins = Array.from({ length: 6 }, (_, i) => ({ id: `twin${i}`, similarity: 0.5 }));
    const bad = { id: "bad", similarity: 0.6 };
    const rest = Array.from({ length: 6 }, (_, i) => ({ id: `rest${i}`, similarity: 0.4 }));
    const candidates = [bad, ...twins, ...rest];
    for (let run = 0; run < 30; run++) {
      await oneRun(engine, { candidates, topK: 1, keepOrder: true, vector: [1, 0] }, { reward: 0 });
    }
    const ranking = await engine.rank({ candidates, topK: 13, vector: [1, 0] });
    expect(ranking.order).toBe("learned");
    const order = ranking.items.map(({ id }) => id).filter((id) => id !== "bad");
    expect(order).toEqual([...twins, ...rest].map(({ id }) => id));
    expect(ranking.items[0]?.id).not.toBe("bad");
  });

  it("scores duplicates of one id alike", async () => {
    const { engine } = testEngine();
    const candidates = [
      { id: "a", similarity: 0.5 },
      { id: "b", similarity: 0.4 },
      { id: "a", similarity: 0.3 },
      { id: "c", similarity: 0.1 },
    ];
    for (let run = 0; run < 5; run++) await oneRun(engine, { candidates, topK: 3, vector: [1, 0] }, { reward: 1 });
    const { items } = await engine.rank({ candidates, topK: 4, vector: [1, 0] });
    const [first, second] = items.filter(({ id }) => id === "a");
    expect(first?.learned).not.toBe(0);
    expect(second?.learned).toBeCloseTo(first?.learned as number, 12);
    expect(second?.handle).toBe(first?.handle);
  });
});
