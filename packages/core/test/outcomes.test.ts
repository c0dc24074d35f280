import { describe, expect, it } from "vitest";
import { type Engine, type Learner, OUTCOME_TIERS, type OutcomeInput, oar, qValue, similarity } from "../src/index.js";
import type { OarMemory, OarShared } from "../src/learners/index.js";
import { exportState, replay } from "../src/maintenance/index.js";

import { seededRandom } from "./support/random.js";
import { DAY, evidenceIn, oneRun, request, snapshot, testEngine, testEpisode } from "./support/test-engine.js";

/** Everything numeric that the learner knows, as one flat record. */
async function knowledge(engine: Engine): Promise<Record<string, number>> {
  const numbers: Record<string, number> = {};
  const collect = (path: string, value: unknown): void => {
    if (typeof value === "number") numbers[path] = value;
    else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) collect(`${path}.${key}`, inner);
    }
  };
  const { shared, memories } = await exportState(engine);
  collect("shared", shared);
  for (const { id, state } of memories) collect(id, state);
  return numbers;
}

function expectSame(a: Record<string, number>, b: Record<string, number>): void {
  expect(Object.keys(a).sort()).toEqual(Object.keys(b).sort());
  for (const [path, value] of Object.entries(a)) {
    const other = b[path] as number;
    const close = Math.abs(value - other) <= 1e-6 * Math.max(1, Math.abs(value)) || Object.is(value, other);
    expect(close, `${path}: ${value} and ${other}`).toBe(true);
  }
}

async function past(engine: Engine, runs = 25): Promise<void> {
  const random = seededRandom(4);
  for (let run = 0; run < runs; run++) {
    const { episode } = await engine.rank(
      request({ vector: random.direction(4), keepOrder: true, topK: 1 + random.below(4) }),
    );
    await engine.end(episode, { reward: random.next(), helpful: random.next() < 0.2 ? ["m1"] : [] });
  }
}

/** A history, then one episode whose outcomes arrive in the order given. */
async function after(learner: Learner, outcomes: readonly OutcomeInput[], between = 0): Promise<Engine> {
  const { engine } = testEngine({ learner });
  await past(engine);
  await oneRun(engine, request({ keepOrder: true, aliases: ["run"] }));
  for (const outcome of outcomes) {
    await engine.report("run", outcome);
    if (outcome !== outcomes.at(-1)) await past(engine, between);
  }
  expect(await replay(engine)).toMatchObject({ identical: true });
  return engine;
}

/** The same without the place of the last run that taught a memory, which a lesson that is taken back leaves. */
async function worth(learner: Learner, outcomes: readonly OutcomeInput[]): Promise<Record<string, number>> {
  const all = await knowledge(await after(learner, outcomes));
  return Object.fromEntries(Object.entries(all).filter(([path]) => !path.endsWith(".lastRun")));
}

const learners: readonly (readonly [string, () => Learner])[] = [
  ["oar", () => oar() as Learner],
  ["qavr", () => qValue() as Learner],
  ["similarity", () => similarity() as Learner],
];

describe.each(learners)("two outcomes of one episode, with %s", (_, learner) => {
  const better: OutcomeInput = { reward: 0, tier: "verified" };
  const weaker: OutcomeInput = { reward: 1, tier: "completed" };

  it("leave the state of the better tier alone, in either order of arrival", async () => {
    const alone = await knowledge(await after(learner(), [better]));
    expectSame(await knowledge(await after(learner(), [weaker, better])), alone);
    expect(await knowledge(await after(learner(), [better, weaker]))).toEqual(alone);
  });

  it("leave the better votes and the better reward, whoever gave them, in any order", async () => {
    const votes: OutcomeInput = { helpful: ["d1"], harmful: ["d0"], tier: "user" };
    const weakVotes: OutcomeInput = { reward: 0.7, helpful: ["d0"], tier: "self-reported" };
    const together = await knowledge(await after(learner(), [{ ...better, ...{ helpful: ["d1"], harmful: ["d0"] } }]));
    for (const order of [
      [votes, better, weakVotes],
      [weakVotes, better, votes],
      [better, weakVotes, votes],
      [weakVotes, votes, better],
    ]) {
      expectSame(await knowledge(await after(learner(), order)), together);
    }
  });

  it("of the same tier: the later word counts", async () => {
    const first: OutcomeInput = { reward: 1, tier: "user" };
    const second: OutcomeInput = { reward: 0.25, tier: "user", harmful: ["d0"] };
    expectSame(
      await knowledge(await after(learner(), [first, second])),
      await knowledge(await after(learner(), [second])),
    );
  });

  it("of the same tier: votes on different memories add up, and the later vote on one memory counts", async () => {
    const together = await worth(learner(), [{ helpful: ["d0"], harmful: ["d1"] }]);
    expectSame(await worth(learner(), [{ helpful: ["d0"] }, { harmful: ["d1"] }]), together);
    const changed = [{ harmful: ["d0", "d1"] }, { helpful: ["d2"] }, { helpful: ["d0"] }, { neutral: ["d2"] }];
    expectSame(await worth(learner(), changed), together);
  });

  it("of the same tier: a neutral vote takes an earlier one back", async () => {
    const reward: OutcomeInput = { reward: 0.5, tier: "self-reported" };
    const taken: OutcomeInput[] = [reward, { helpful: ["d0"] }, { neutral: ["d0"] }];
    expectSame(await worth(learner(), taken), await worth(learner(), [reward]));
  });

  it("of two tiers: the better tier's votes count, neutral ones too, in either order", async () => {
    const weak: OutcomeInput = { tier: "self-reported", helpful: ["d0", "d1"] };
    const strong: OutcomeInput = { tier: "user", neutral: ["d0"], harmful: ["d2"] };
    const alone = await worth(learner(), [{ harmful: ["d2"] }]);
    expectSame(await worth(learner(), [weak, strong]), alone);
    expectSame(await worth(learner(), [strong, weak]), alone);
  });
});

describe("the outcome that counts", () => {
  it("P19: is the best tier's for every pair of tiers", async () => {
    for (const [b, better] of OUTCOME_TIERS.entries()) {
      for (const weaker of OUTCOME_TIERS.slice(b + 1)) {
        for (const order of [
          [better, weaker],
          [weaker, better],
        ]) {
          const { engine, episode } = await testEpisode();
          await engine.end(episode);
          for (const tier of order) await engine.report(episode, { tier, reward: tier === better });
          expect((await engine.explain(episode))?.outcome).toEqual({ reward: 1, tier: better, source: better });
        }
      }
    }
  });

  it("has the evidence of exactly one run, also when other runs taught in between", async () => {
    const corrected = await after(
      oar() as Learner,
      [
        { reward: 1, tier: "self-reported" },
        { reward: 0, tier: "verified" },
      ],
      10,
    );
    const alone = await after(oar() as Learner, [{ reward: null }, { reward: 0, tier: "verified" }], 10);
    const expected = await evidenceIn(alone);
    for (const [id, value] of Object.entries(await evidenceIn(corrected)))
      expect(value).toBeCloseTo(expected[id] as number, 9);
    expect(await corrected.status()).toMatchObject({ corrections: 1, taught: 36 });
    expect(await alone.status()).toMatchObject({ corrections: 0, taught: 36, unknownOutcomes: 1 });
  });

  it("weighs 0.3 when the run merely ended, and what it says otherwise", async () => {
    const evidenceFor = async (outcome: OutcomeInput): Promise<number> => {
      const { engine } = testEngine();
      await oneRun(engine, { ...request({ topK: 1 }), collection: "other" }, { reward: false, tier: "observed" });
      await oneRun(engine, request({ topK: 1 }), outcome);
      const { collections } = await engine.status();
      return collections.find(({ collection }) => collection === "default")?.best[0]?.evidence as number;
    };
    expect(await evidenceFor({ reward: true, tier: "completed" })).toBeCloseTo(0.3, 12);
    expect(await evidenceFor({ reward: true, tier: "completed", weight: 1 })).toBe(1);
    expect(await evidenceFor({ reward: true })).toBe(1);
    expect(await evidenceFor({ reward: true, weight: 0.5 })).toBe(0.5);
  });

  it.each<[what: string, first: OutcomeInput, counts: boolean]>([
    ["nothing but other such ends is known", { reward: true, tier: "completed" }, false],
    ["a person has called a run a failure", { reward: false, tier: "user" }, false],
    ["a checker has called a run a failure", { reward: false, tier: "verified" }, false],
    ["a run has thrown", { reward: false, tier: "observed" }, true],
    ["a run has ended badly", { reward: false, tier: "completed" }, true],
  ])("counts success by merely ending only where a run has failed by itself: %s", async (_what, first, counts) => {
    const { engine } = testEngine();
    const run = async (collection: string, outcome: OutcomeInput): Promise<void> => {
      await oneRun(engine, { ...request({ topK: 1 }), collection, aliases: [`in ${collection}`] }, outcome);
    };
    await run("first", first);
    const { taught } = await engine.status();
    await run("second", { reward: true, tier: "completed" });
    const [memory] = (await engine.memories({ collection: "second" })).memories;
    expect(memory).toMatchObject({ successes: 1, evidence: expect.closeTo(counts ? 0.3 : 0, 9) });
    expect(await engine.status()).toMatchObject({ taught: taught + (counts ? 1 : 0) });
    expect(await engine.explain("in second")).toMatchObject({ outcome: { reward: 1, tier: "completed" } });
    await engine.report("in second", { reward: false, tier: "user" });
    const [corrected] = (await engine.memories({ collection: "second" })).memories;
    expect(corrected).toMatchObject({ successes: 0, failures: 1, evidence: expect.closeTo(1, 9) });
    expect(await engine.status()).toMatchObject({ taught: taught + 1, corrections: 1 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});

describe("an unknown outcome", () => {
  it("is counted and teaches nothing", async () => {
    const { engine, episode } = await testEpisode({ aliases: ["run"] });
    await engine.end(episode, { reward: null, tier: "completed" });
    await engine.report("run", {});
    await engine.report("run", { used: ["m1"] });
    expect(await engine.status()).toMatchObject({
      outcomes: { completed: 1, user: 2 },
      unknownOutcomes: 3,
      taught: 0,
      collections: [{ memories: 3, withEvidence: 0 }],
    });
    expect(await engine.fetchSize({ topK: 3 })).toBe(3);
    expect((await engine.rank(request())).order).toBe("host");
  });

  it("with votes teaches what the votes say", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode, { helpful: ["m3"], harmful: ["d0"] });
    expect(await engine.status()).toMatchObject({
      taught: 1,
      collections: [{ withEvidence: 2, best: [{ id: "d2" }], worst: [{ id: "d0" }] }],
    });
    const { best = [], worst = [] } = (await engine.status()).collections[0] ?? {};
    expect([Number(best[0]?.utility) > 0, Number(worst[0]?.utility) < 0]).toEqual([true, true]);
  });

  it("never takes a known one's place", async () => {
    const { engine, episode } = await testEpisode();
    await engine.end(episode, { reward: 1, tier: "completed" });
    await engine.report(episode, { reward: null, tier: "verified" });
    expect((await engine.explain(episode))?.outcome).toMatchObject({ reward: 1, tier: "completed" });
  });
});

describe("an idempotency key", () => {
  it("makes a repeated outcome a duplicate with the receipt of the first, and changes nothing", async () => {
    const { engine, store, clock, episode } = await testEpisode({ aliases: ["run"] });
    const outcome = { reward: true, helpful: ["d0"], idempotencyKey: "order 7" };
    const first = await engine.end(episode, outcome);
    const before = await snapshot(store);
    clock.now += DAY;
    expect(await engine.report("run", outcome)).toEqual({ ...first, status: "duplicate" });
    expect(await engine.report("run", { ...outcome, helpful: ["m1"] })).toEqual({ ...first, status: "duplicate" });
    expect(await snapshot(store)).toEqual(before);
  });

  it("refuses another content under the same key, and changes nothing", async () => {
    const { engine, store, episode } = await testEpisode({ aliases: ["run"] });
    await engine.end(episode, { reward: true, idempotencyKey: "order 7" });
    const other = await engine.rank(request());
    await engine.end(other.episode);
    const before = await snapshot(store);
    const conflict = { code: "IDEMPOTENCY_CONFLICT", details: { seq: 2 } };
    await expect(engine.report("run", { reward: false, idempotencyKey: "order 7" })).rejects.toMatchObject(conflict);
    await expect(engine.report(other.episode, { reward: true, idempotencyKey: "order 7" })).rejects.toMatchObject(
      conflict,
    );
    expect(await snapshot(store)).toEqual(before);
  });

  it("that is refused at an episode's end does not bring the episode back: its exposures are recorded", async () => {
    const { engine } = testEngine();
    await oneRun(engine, request(), { reward: true, idempotencyKey: "order 7" });
    const second = await engine.rank(request());
    await expect(engine.end(second.episode, { reward: false, idempotencyKey: "order 7" })).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
    });
    expect((await engine.status()).episodes).toMatchObject({ open: 0, recorded: 2 });
    await expect(engine.report(second.episode, { reward: false })).resolves.toMatchObject({ status: "committed" });
  });

  it("that refused a word leaves it to be said without the key", async () => {
    const { engine, episode } = await testEpisode();
    await engine.report(episode, { reward: true, idempotencyKey: "order 7" });
    await expect(engine.report(episode, { reward: false, idempotencyKey: "order 7" })).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
    });
    expect(await engine.report(episode, { reward: false })).toMatchObject({ status: "committed" });
    await engine.end(episode);
    expect((await engine.explain(episode))?.outcome).toMatchObject({ reward: 0 });
  });
});

describe("a late outcome", () => {
  it("is refused once the window after the last exposure has passed", async () => {
    const { engine, clock, store, episode } = await testEpisode({ aliases: ["run"] }, { outcomeWindow: 7 * DAY });
    clock.now += 3 * DAY;
    await engine.rank(request({ episode }));
    await engine.end(episode);
    clock.now += 7 * DAY;
    await engine.report("run", { reward: true });
    clock.now += 1;
    const before = await snapshot(store);
    await expect(engine.report("run", { reward: false })).rejects.toMatchObject({
      code: "OUTCOME_TOO_LATE",
      details: { episode, age: 7 * DAY + 1, window: 7 * DAY },
    });
    expect(await snapshot(store)).toEqual(before);
  });

  it("is not refused because a clock ran backwards", async () => {
    const { engine, clock, episode } = await testEpisode();
    await engine.end(episode);
    clock.now -= 400 * DAY;
    await expect(engine.report(episode, { reward: true })).resolves.toMatchObject({ status: "committed" });
  });

  it("has the window after the latest exposure, also when the clock ran backwards before the last", async () => {
    const { engine, clock, episode } = await testEpisode({}, { outcomeWindow: 30 * DAY });
    await engine.report(episode, { reward: null });
    clock.now -= 10 * DAY;
    await engine.rank(request({ episode }));
    await engine.end(episode);
    clock.now += 39 * DAY;
    await expect(engine.report(episode, { reward: true })).resolves.toMatchObject({ status: "committed" });
  });
});

describe("a late exposure", () => {
  it("shares the recorded outcome again, exactly as if it had come before", async () => {
    const outcome: OutcomeInput = { reward: 0, tier: "verified", harmful: ["d0"] };
    const late = testEngine().engine;
    await past(late);
    const first = await late.rank(request({ keepOrder: true, topK: 2 }));
    await late.report(first.episode, outcome);
    await late.rank(request({ keepOrder: true, topK: 4, vector: [0, 1, 0, 0], episode: first.episode }));
    await late.end(first.episode);

    const early = testEngine().engine;
    await past(early);
    const both = await early.rank(request({ keepOrder: true, topK: 2 }));
    await early.rank(request({ keepOrder: true, topK: 4, vector: [0, 1, 0, 0], episode: both.episode }));
    await early.end(both.episode, outcome);

    const evidence = async (engine: Engine): Promise<number[]> =>
      ((await exportState(engine)) as { memories: { id: string; state: OarMemory }[] }).memories.map(
        ({ state }) => state.evidence,
      );
    const [a, b] = [await evidence(late), await evidence(early)];
    expect(a).toHaveLength(b.length);
    a.forEach((value, i) => {
      expect(value).toBeCloseTo(b[i] as number, 9);
    });
    const lessons = async (engine: Engine): Promise<number> =>
      ((await exportState(engine)).shared as OarShared).lessons;
    expect(await lessons(late)).toBe(await lessons(early));
    expect(await replay(late)).toMatchObject({ identical: true });
  });
});
