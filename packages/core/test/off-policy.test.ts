import { describe, expect, it } from "vitest";
import { type Learner, memoryStore, oar, qValue, type Store, similarity } from "../src/index.js";
import type { PolicyEstimate } from "../src/maintenance/index.js";
import { comparePolicies, replay, revoke } from "../src/maintenance/index.js";

import { candidates, ids, oneRun, request, snapshot, testEngine } from "./support/test-engine.js";

type Engine = ReturnType<typeof testEngine>["engine"];

/** Runs that succeed with d3 in view, and fail otherwise. */
async function live(engine: Engine, runs: number): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const ranking = await engine.rank(request());
    await engine.end(ranking.episode, { reward: ids(ranking).includes("d3") });
  }
}

/** A learner that always shows these memories, wherever they stand. */
const showing = (...wanted: readonly string[]): Learner => ({
  ...(similarity() as Learner),
  id: "fixed@1",
  score: ({ similarities }) => {
    const score = Float64Array.from(similarities, (value, i) => value + (wanted.includes(`d${i}`) ? 10 : 0));
    return { score, utility: score, evidence: score, gate: 1, unchanged: false };
  },
});

/** A learner that turns the second kind of request upside down, and leaves the first as it is. */
const reversing: Learner = {
  ...(similarity() as Learner),
  id: "reversing@1",
  score: ({ similarities, vector }) => {
    const second = (vector?.[1] ?? 0) > 0.5;
    const score = second ? similarities.toReversed() : Float64Array.from(similarities);
    return { score, utility: score, evidence: score, gate: 1, unchanged: !second };
  },
};

/** Runs of two kinds of request in turn, each with memories of its own: d0 to d9, and d10 to d19. */
async function twoKinds(engine: Engine, succeeds: (kind: number, shown: string[]) => boolean): Promise<void> {
  for (let run = 0; run < 600; run++) {
    const kind = run % 2;
    const found = candidates(10).map(({ similarity: value }, i) => ({ id: `d${i + 10 * kind}`, similarity: value }));
    const vector = kind === 0 ? [1, 0, 0, 0] : [0, 1, 0, 0];
    const ranking = await engine.rank({ candidates: found, topK: 3, vector });
    await engine.end(ranking.episode, { reward: succeeds(kind, ids(ranking)) });
  }
}

const estimateOf = async (engine: Engine, learner: Learner): Promise<PolicyEstimate> => {
  const { estimate } = await comparePolicies(engine, { learner });
  if ("refused" in estimate) throw new Error(estimate.refused);
  return estimate;
};

describe("replay with another learner", () => {
  it("agrees with itself, and writes nothing", async () => {
    const { engine, store } = testEngine();
    await live(engine, 60);
    const before = await snapshot(store);
    const report = await comparePolicies(engine, { learner: oar() as Learner });
    expect(report).toMatchObject({
      namespace: "default",
      learner: "oar@2",
      entries: 120,
      episodes: 60,
      exposures: 60,
      agreement: { sameSet: 1, overlap: 1 },
    });
    expect(await snapshot(store)).toEqual(before);
    expect(await engine.status()).toMatchObject({ learner: "oar@2", taught: 60 });
  });

  it("says how often another one would have shown the same memories, and how many of them", async () => {
    const { engine } = testEngine({ holdout: 1 });
    await live(engine, 20);
    expect((await comparePolicies(engine, { learner: similarity() as Learner })).agreement).toEqual({
      sameSet: 1,
      overlap: 1,
    });
    const { agreement } = await comparePolicies(engine, { learner: showing("d0", "d8", "d9") });
    expect(agreement?.sameSet).toBe(0);
    expect(agreement?.overlap).toBeCloseTo(1 / 3, 12);
  });

  it("learns from what came before an exposure and never from its own outcome", async () => {
    const { engine } = testEngine({ holdout: 1 });
    const seen: number[] = [];
    const spy: Learner = {
      ...(qValue() as Learner),
      id: "spy@1",
      score(asked) {
        seen.push((asked.shared as { contexts: Record<string, number> } | undefined)?.contexts.default ?? 0);
        return (qValue() as Learner).score(asked);
      },
    };
    await live(engine, 5);
    await comparePolicies(engine, { learner: spy });
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  it("leaves revoked outcomes out, and compares every exposure once, however the ledger is read", async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      readEntries: (namespace, { limit, ...page }) =>
        inner.readEntries(namespace, { ...page, limit: Math.min(limit, 7) }),
    };
    const { engine } = testEngine({ store, holdout: 1 });
    for (let run = 0; run < 30; run++) await oneRun(engine, request(), { reward: false, source: "liar" });
    const sameSet = async (): Promise<number | undefined> =>
      (await comparePolicies(engine, { learner: oar() as Learner })).agreement?.sameSet;
    expect(await sameSet()).toBeLessThan(0.5);
    await revoke(engine, { namespace: "default", source: "liar" });
    expect(await sameSet()).toBe(1);
    expect(await comparePolicies(engine, { learner: oar() as Learner })).toMatchObject({ exposures: 30, episodes: 30 });
  });

  it("ranks what was shown from beyond the recorded candidates behind them", async () => {
    const { engine } = testEngine({ recordedCandidates: 2, learner: reversing });
    const asked = request({ topK: 4, vector: [0, 1, 0, 0] });
    await engine.end((await engine.rank(asked)).episode, { reward: true });
    const { episode, items } = await engine.rank(asked);
    expect(items.map(({ id }) => id)).toEqual(["d9", "d8", "d7", "d6"]);
    await engine.end(episode, { reward: true });
    expect((await comparePolicies(engine, { learner: reversing })).agreement).toEqual({ sameSet: 1, overlap: 1 });
  });

  it("of an empty namespace compares nothing", async () => {
    const report = await comparePolicies(testEngine().engine, {
      learner: similarity() as Learner,
      namespace: "nobody",
    });
    expect(report).toMatchObject({ episodes: 0, exposures: 0, entries: 0 });
    expect(report.agreement).toBeUndefined();
    expect(report.estimate).toHaveProperty("refused");
  });

  it.each([{ learner: "oar" }, { learner: null }, { learner: oar(), write: true }, { learner: oar(), namespace: "" }])(
    "refuses %j",
    async (options) => {
      const { engine } = testEngine();
      const asked = replay(engine, options as never) as Promise<unknown>;
      await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^INVALID_(ARGUMENT|ID)$/) });
    },
  );
});

describe("the estimate of another learner's success", () => {
  it("is refused for a ledger in which nothing was drawn by chance, however large", async () => {
    const { engine } = testEngine({ holdout: 0 });
    await live(engine, 300);
    const { estimate } = await comparePolicies(engine, { learner: oar() as Learner });
    expect(estimate).toMatchObject({ refused: expect.stringContaining("holdout"), effectiveSampleSize: 0 });
    const watching = testEngine({ holdout: 1 }).engine;
    await live(watching, 300);
    expect((await comparePolicies(watching, { learner: similarity() as Learner })).estimate).toHaveProperty("refused");
  });

  it("leaves out episodes whose exposures were drawn with two shares", async () => {
    const learner = oar() as Learner;
    const asking: Learner = {
      ...learner,
      score: (asked) => ({ ...learner.score(asked), hostShare: asked.context === "often" ? 0.8 : 0.5 }),
    };
    const { engine } = testEngine({ learner: asking });
    for (let run = 0; run < 300; run++) {
      const { episode } = await engine.rank(request({ context: "often" }));
      await engine.rank(request({ episode, context: "rarely", collection: "others" }));
      await engine.end(episode, { reward: true });
    }
    const { estimate } = await comparePolicies(engine, { learner: similarity() as Learner });
    expect(estimate).toMatchObject({ refused: expect.stringContaining("drawn by chance"), effectiveSampleSize: 0 });
  });

  it("is refused below an effective sample of 100, and for choices that nobody made", async () => {
    const { engine } = testEngine({ holdout: 0.3 });
    await live(engine, 90);
    const { estimate } = await comparePolicies(engine, { learner: oar() as Learner });
    expect(estimate).toMatchObject({ refused: expect.stringContaining("100 are needed") });
    await live(engine, 300);
    const unseen = (await comparePolicies(engine, { learner: showing("d7", "d8", "d9") })).estimate;
    expect(unseen).toMatchObject({ refused: expect.any(String), effectiveSampleSize: 0 });
  });

  it("of the learner that served is what was served", async () => {
    const { engine } = testEngine({ holdout: 0.3 });
    await live(engine, 400);
    const { success, served, difference, coverage } = await estimateOf(engine, oar() as Learner);
    expect(success).toBe(served);
    expect(difference).toBe(0);
    expect(coverage).toBe(1);
    expect(success).toBeGreaterThan(0.9);
  });

  it("of the host's order is what the held-out episodes say", async () => {
    const { engine } = testEngine({ holdout: 0.3 });
    await live(engine, 600);
    const { lift } = await engine.status();
    const { success, served, difference, high, coverage } = await estimateOf(engine, similarity() as Learner);
    expect(success).toBeLessThan(0.05);
    expect(served).toBeGreaterThan(0.9);
    expect(high).toBeLessThan(-0.8);
    expect(coverage).toBe(1);
    if (typeof lift?.lift !== "object") throw new Error("There is no lift.");
    expect(-difference).toBeCloseTo(lift.lift.difference, 1);
  });

  it("weighs what was drawn seldom by as much as it was drawn seldom", async () => {
    const { engine } = testEngine({ learner: reversing, holdout: 0.2 });
    // On one kind of request both orders agree and succeed; on the other, the order of the host is the wrong one.
    await twoKinds(engine, (kind, shown) => kind === 0 || !shown.includes("d10"));
    const { success, served, difference, coverage } = await estimateOf(engine, similarity() as Learner);
    expect(served).toBe(1);
    expect(success).toBeGreaterThan(0.4);
    expect(success).toBeLessThan(0.6);
    expect(difference).toBeCloseTo(success - served, 12);
    expect(coverage).toBe(1);
  });

  it("speaks only for the episodes on which somebody made its choice", async () => {
    const { engine } = testEngine({ holdout: 0.4 });
    // Outcomes that do not depend on what was shown hardly move the order, so the choices of the last learner were never shown.
    let run = 0;
    await twoKinds(engine, (kind) => kind === 0 || run++ % 2 === 0);
    const { coverage, success } = await estimateOf(engine, reversing);
    expect(coverage).toBeGreaterThan(0.4);
    expect(coverage).toBeLessThan(0.6);
    expect(success).toBe(1);
  });
});
