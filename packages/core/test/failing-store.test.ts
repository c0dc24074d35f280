import { describe, expect, it } from "vitest";
import { memoryStore, type RankRequest, type Store } from "../src/index.js";
import { exportState, importState, replay } from "../src/maintenance/index.js";
import { answeredStore, faultyStore } from "./support/faulty-store.js";
import { heldStore } from "./support/held-store.js";
import { ids, oneRun, request, snapshot, testEngine, testEpisode } from "./support/test-engine.js";

async function learned(store: Store): Promise<ReturnType<typeof testEngine>> {
  const tested = testEngine({ store });
  for (let run = 0; run < 20; run++) await oneRun(tested.engine, request(), { reward: false });
  return tested;
}

/** An episode that is open in an engine on a store that fails on demand. */
async function opened<Given extends { readonly store: Store }>(given: Given, asked: RankRequest = request()) {
  const { engine } = testEngine({ store: given.store });
  const { episode } = await engine.rank(asked);
  return { ...given, engine, episode };
}

describe("a ranking on a failing store", () => {
  it("is the host's order, marked and logged as degraded, and its exposure still counts later", async () => {
    const { store, faults } = faultyStore();
    const { engine, logs } = await learned(store);
    expect(ids(await engine.rank(request()))).not.toEqual(["d0", "d1", "d2"]);
    faults.readStates = "before";
    const ranking = await engine.rank(request());
    expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
    expect(ranking).toMatchObject({
      order: "host",
      degraded: { code: "STORE_FAILED", message: "The faulty store failed: connection refused" },
    });
    expect(ranking.items.every(({ learned: shift, score, similarity }) => shift === 0 && score === similarity)).toBe(
      true,
    );
    expect(logs.at(-1)).toMatchObject({
      level: "warn",
      fields: { code: "RANKING_DEGRADED", reason: "STORE_FAILED", namespace: "default" },
    });
    faults.readStates = "none";
    expect(await engine.end(ranking.episode, { reward: false })).toMatchObject({ status: "committed" });
    expect(ids(await engine.rank(request()))).not.toEqual(["d0", "d1", "d2"]);
  });

  it("asks the host for exactly topK", async () => {
    const { store, faults } = faultyStore();
    const { engine, logs } = await learned(store);
    expect(await engine.fetchSize({ topK: 3 })).toBe(50);
    faults.readStates = "before";
    expect(await engine.fetchSize({ topK: 3 })).toBe(3);
    expect(logs.at(-1)).toMatchObject({ fields: { code: "RANKING_DEGRADED", reason: "STORE_FAILED" } });
    // The question belongs to the ranking after it, which counts itself.
    await engine.rank(request());
    expect(engine.health().degradedRankings).toBe(1);
  });

  it.each(["shared", "memory:"])("with damaged states in %s is degraded by INVALID_STATE", async (scope) => {
    const { store, damage } = faultyStore();
    const { engine } = await learned(store);
    damage.scope = scope;
    const ranking = await engine.rank(request());
    expect(ranking).toMatchObject({ order: "host", degraded: { code: "INVALID_STATE" } });
    expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
    damage.scope = undefined;
    expect((await engine.rank(request())).degraded).toBeUndefined();
  });

  it("with damaged counters asks for exactly topK", async () => {
    const { store, damage } = faultyStore();
    const { engine, logs } = await learned(store);
    damage.scope = "stats";
    expect(await engine.fetchSize({ topK: 3 })).toBe(3);
    expect(logs.at(-1)).toMatchObject({ fields: { code: "RANKING_DEGRADED", reason: "INVALID_STATE" } });
  });

  it("that was closed is degraded by STORE_CLOSED", async () => {
    const { engine } = testEngine();
    await engine.close();
    expect(await engine.rank(request())).toMatchObject({ degraded: { code: "STORE_CLOSED" } });
  });

  it("still refuses wrong arguments", async () => {
    const { store, faults } = faultyStore();
    faults.readStates = "before";
    const { engine } = testEngine({ store });
    await expect(engine.rank(request({ topK: -1 }))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("an outcome on a failing store", () => {
  it("is not acknowledged, and a retry records it exactly once", async () => {
    const { engine, episode, inner, faults } = await opened(faultyStore());
    faults.commit = "before";
    const failure = { code: "STORE_FAILED", details: { store: "faulty" } };
    for (let i = 0; i < 3; i++) await expect(engine.end(episode, { reward: true })).rejects.toMatchObject(failure);
    expect(await inner.head("default")).toBe(0);
    expect((await engine.status()).episodes.open).toBe(1);
    faults.commit = "none";
    expect(await engine.end(episode, { reward: true })).toEqual({ status: "committed", episode, seq: 2 });
    expect(await engine.status()).toMatchObject({ seq: 2, outcomes: { user: 1 }, taught: 1, corrections: 0 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("whose answer was lost is recorded exactly once, and the retry gets the first receipt", async () => {
    const { engine, episode, inner, faults } = await opened(faultyStore());
    faults.commit = "after";
    for (let i = 0; i < 3; i++) {
      await expect(engine.end(episode, { reward: true, helpful: ["m1"] })).rejects.toMatchObject({
        code: "STORE_FAILED",
      });
    }
    const before = await snapshot(inner);
    faults.commit = "none";
    expect(await engine.end(episode, { reward: true, helpful: ["d0"] })).toEqual({
      status: "duplicate",
      episode,
      seq: 2,
    });
    expect(await snapshot(inner)).toEqual(before);
    expect(await engine.status()).toMatchObject({
      episodes: { open: 0 },
      seq: 2,
      outcomes: { user: 1 },
      corrections: 0,
    });
  });

  it("whose answer was lost and that is retried in other words is a later word: both are recorded, the last one counts", async () => {
    const { engine, episode, faults } = await opened(faultyStore());
    faults.commit = "after";
    await expect(engine.end(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    expect(await engine.end(episode, { reward: false })).toMatchObject({ status: "committed" });
    expect(await engine.explain(episode)).toMatchObject({ outcome: { reward: 0 } });
    expect(await engine.status()).toMatchObject({ outcomes: { user: 2 }, corrections: 1, taught: 1 });
  });

  it("reported on an open episode is retried in the same way, later exposures included", async () => {
    const { engine, episode, faults } = await opened(faultyStore(), request({ topK: 1 }));
    faults.commit = "after";
    await expect(engine.report(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    await engine.rank(request({ episode, topK: 1, candidates: [{ id: "late", similarity: 1 }] }));
    faults.commit = "before";
    await expect(engine.report(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    expect(await engine.report(episode, { reward: true })).toMatchObject({ status: "duplicate" });
    await engine.end(episode);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 1 }, episodes: { recorded: 1 } });
    expect((await engine.explain(episode))?.exposures).toHaveLength(2);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("said again after it was acknowledged is a new outcome, also when it took a retry", async () => {
    const { engine, episode, faults } = await opened(faultyStore());
    faults.commit = "before";
    await expect(engine.report(episode, { reward: true })).rejects.toThrow();
    faults.commit = "none";
    const first = await engine.report(episode, { reward: true });
    const second = await engine.report(episode, { reward: true });
    expect(second.seq).toBe(first.seq + 1);
    expect(await engine.status()).toMatchObject({ outcomes: { user: 2 }, taught: 1 });
  });

  it("that fails while another is under way keeps its exposures for the retry", async () => {
    const { engine, episode, answers } = await opened(answeredStore(), request({ topK: 1 }));
    const first = engine.report(episode, { reward: true });
    await engine.rank(request({ episode, topK: 1, candidates: [{ id: "late", similarity: 1 }] }));
    const second = engine.report(episode, { reward: false });
    answers[0]?.(true);
    await expect(first).resolves.toMatchObject({ status: "committed" });
    answers[1]?.(false);
    await expect(second).rejects.toMatchObject({ code: "STORE_FAILED" });
    const third = engine.end(episode, { reward: false });
    answers[2]?.(true);
    await expect(third).resolves.toMatchObject({ status: "committed" });
    expect((await engine.explain(episode))?.exposures.map(({ items }) => items[0]?.id)).toEqual(["d0", "late"]);
  });

  it("is recorded also when the end that it waited for fails", async () => {
    const { engine, episode, answers } = await opened(answeredStore(), request({ aliases: ["run"] }));
    const ended = engine.end(episode, { reward: true, tier: "completed" });
    const reported = engine.report("run", { reward: false, tier: "verified" });
    answers[0]?.(false);
    await expect(ended).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.(true);
    await expect(reported).resolves.toMatchObject({ status: "committed" });
  });

  it("leaves its episode ended where the end that it waited for fails and is repeated at once", async () => {
    const { engine, episode, answers } = await opened(answeredStore(), request({ aliases: ["run"] }));
    const end = () => engine.end(episode, { reward: true, tier: "completed" });
    const ended = end().catch(end);
    const reported = engine.report("run", { reward: false, tier: "verified" });
    answers[0]?.(false);
    for (const place of [1, 2]) {
      await expect.poll(() => answers.length).toBeGreaterThan(place);
      answers[place]?.(true);
    }
    await Promise.all([ended, reported]);
    expect(await engine.explain("run")).toMatchObject({ state: "ended", outcome: { reward: 0, tier: "verified" } });
  });

  it("said again with a key has that key from then on", async () => {
    const { engine, episode, faults } = await opened(faultyStore());
    faults.commit = "before";
    await expect(engine.report(episode, { reward: true })).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    const keyed = { reward: true, idempotencyKey: "order 7" };
    expect(await engine.report(episode, keyed)).toMatchObject({ status: "committed" });
    expect(await engine.report(episode, keyed)).toMatchObject({ status: "duplicate" });
  });

  it("leaves exposures in their order: what could not be sent comes before what was shown later", async () => {
    const { engine, episode, faults } = await opened(faultyStore(), request({ topK: 1 }));
    faults.commit = "before";
    await expect(engine.report(episode, { reward: null })).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    await engine.rank(request({ episode, topK: 1, candidates: [{ id: "late", similarity: 1 }] }));
    await engine.end(episode, { reward: true });
    expect((await engine.explain(episode))?.exposures.map(({ items }) => items[0]?.id)).toEqual(["d0", "late"]);
  });

  it("does not pile up entries while the store is down", async () => {
    const { engine, episode, inner, faults } = await opened(faultyStore());
    faults.commit = "before";
    for (let i = 0; i < 50; i++) await expect(engine.report(episode, { reward: null })).rejects.toThrow();
    faults.commit = "none";
    await engine.end(episode, { reward: true });
    // The exposure, its end, and the outcome that counts.
    expect(await inner.head("default")).toBe(3);
  });

  it("leaves a suspended episode open when it could not be suspended", async () => {
    const { engine, episode, faults } = await opened(faultyStore());
    faults.commit = "before";
    await expect(engine.suspend(episode, { alias: "thread" })).rejects.toMatchObject({ code: "STORE_FAILED" });
    faults.commit = "none";
    await engine.rank(request({ episode }));
    await engine.suspend(episode, { alias: "thread" });
    expect(await engine.resume("thread")).toBe(episode);
    expect((await engine.explain(episode))?.exposures).toHaveLength(2);
    await engine.end(episode);
    expect((await engine.explain(episode))?.exposures).toHaveLength(2);
  });
});

describe("a ranking that is overtaken by the end of its episode", () => {
  it("is refused, and the episode stays ended", async () => {
    const { store, hold, release } = heldStore("readStates");
    const { engine, episode } = await testEpisode({}, { store });
    hold();
    const ranking = engine.rank(request({ episode }));
    await engine.end(episode, { reward: true });
    release();
    await expect(ranking).rejects.toMatchObject({ code: "UNKNOWN_EPISODE" });
    expect((await engine.status()).episodes).toMatchObject({ open: 0, recorded: 1 });
    await engine.flush();
    expect(await engine.explain(episode)).toMatchObject({ state: "ended" });
  });
});

describe("a store that hands out Buffers", () => {
  it.each([
    ["from anywhere in a pool", 3],
    ["from where views of numbers may start", 8],
  ])("%s is read and folded like any other, and its arrays are not written to", async (_place, offset) => {
    const inner = memoryStore();
    const pooled = (bytes: Uint8Array | undefined): Buffer | undefined => {
      if (!bytes) return undefined;
      const pool = Buffer.from(new ArrayBuffer(bytes.length + offset));
      pool.set(bytes, offset);
      return pool.subarray(offset);
    };
    const handedOut: { readonly bytes: Buffer; readonly before: string }[] = [];
    const handOut = (bytes: Uint8Array | undefined): Buffer | undefined => {
      const buffer = pooled(bytes);
      if (buffer) handedOut.push({ bytes: buffer, before: buffer.toString("hex") });
      return buffer;
    };
    const { changesSince: _, ...rest } = inner;
    const store: Store = {
      ...rest,
      readStates: async (...call) => (await inner.readStates(...call)).map(handOut),
      readEntries: async (...call) =>
        (await inner.readEntries(...call)).map((entry) => ({ ...entry, payload: handOut(entry.payload) as Buffer })),
      commit: (namespace, entries, reduce) =>
        inner.commit(namespace, entries, function* (entry) {
          const reduction = reduce(entry);
          let step = reduction.next();
          while (!step.done) step = reduction.next((yield step.value).map(handOut));
          return step.value;
        }),
    };
    const { engine } = await learned(store);
    const plain = await learned(memoryStore());
    const [a, b] = [await engine.rank(request()), await plain.engine.rank(request())];
    expect(a.items).toEqual(b.items);
    await importState(engine, await exportState(engine));
    expect(await replay(engine)).toMatchObject({ identical: true });
    for (const { bytes, before } of handedOut) expect(bytes.toString("hex")).toBe(before);
  });
});

describe("a logger that throws", () => {
  it("costs neither a ranking nor an acknowledgement", async () => {
    const fail = (): never => {
      throw new Error("no space left for logs");
    };
    const { engine, episode } = await testEpisode(
      { space: "one" },
      { logger: { debug: fail, info: fail, warn: fail, error: fail } },
    );
    await engine.end(episode, { reward: true });
    const moved = await engine.rank(request({ space: "another" }));
    expect(moved.items).toHaveLength(3);
    expect(await engine.end(moved.episode, { reward: true })).toMatchObject({ status: "committed" });
  });
});
