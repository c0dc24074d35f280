import { describe, expect, it } from "vitest";
import { governance } from "../src/governance/index.js";
import type { EngineOptions, OutcomeInput } from "../src/index.js";
import type { OarMemory } from "../src/learners/index.js";
import { exportState, replay } from "../src/maintenance/index.js";
import { DAY, oneRun, request, testEngine } from "./support/test-engine.js";

type World = ReturnType<typeof testEngine>;

const capped: Partial<EngineOptions> = { governance: governance({ sourceCaps: { weight: 3, window: DAY } }) };

async function runs({ engine }: World, count: number, outcome: OutcomeInput, memory = "a"): Promise<void> {
  for (let i = 0; i < count; i++) {
    await oneRun(engine, { candidates: [{ id: memory, similarity: 1 }], topK: 1 }, outcome);
  }
}

async function evidence({ engine }: World): Promise<Record<string, number>> {
  const { memories } = await exportState(engine);
  return Object.fromEntries(memories.map(({ id, state }) => [id, (state as OarMemory).evidence]));
}

const ann: OutcomeInput = { reward: true, source: "ann" };

describe("a source's cap", () => {
  it("bounds what it credits one memory in a window; other memories, sources and days have their own", async () => {
    const world = testEngine(capped);
    await runs(world, 20, ann);
    expect(await evidence(world)).toEqual({ a: 3 });
    await runs(world, 2, ann, "b");
    await runs(world, 20, { reward: true, source: "bob" });
    expect(await evidence(world)).toEqual({ a: 6, b: 2 });
    world.clock.now += DAY;
    await runs(world, 1, ann);
    expect(await evidence(world)).toEqual({ a: 7, b: 2 });
    expect(await world.engine.status()).toMatchObject({ cappedCredits: 34, taught: 9 });
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("counts weights: thirty reports of 0.1 fill a cap of 3", async () => {
    const world = testEngine(capped);
    await runs(world, 35, { ...ann, weight: 0.1 });
    expect((await evidence(world)).a).toBeCloseTo(3, 5);
  });

  it("lets a source correct itself", async () => {
    const world = testEngine(capped);
    await runs(world, 3, ann);
    const candidates = ["a", "b"].map((id) => ({ id, similarity: 1 }));
    const { episode } = await world.engine.rank({ candidates, topK: 2 });
    for (const reward of [true, false]) await world.engine.report(episode, { ...ann, reward });
    expect(await world.engine.explain(episode)).toMatchObject({ outcome: { reward: 0 } });
    expect(await evidence(world)).toEqual({ a: 3, b: 1 });
  });

  it("is not touched by a memory that the run was not credited with", async () => {
    const world = testEngine({ governance: governance({ sourceCaps: { weight: 1, window: DAY } }) });
    const { engine } = world;
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.rank({ episode, candidates: [{ id: "b", similarity: 1 }], topK: 1 });
    await engine.end(episode, ann, { uncredited: [0] });
    expect(await evidence(world)).toEqual({ b: 1 });
    await runs(world, 1, ann);
    expect(await evidence(world)).toEqual({ a: 1, b: 1 });
  });

  it("leaves shared knowledge alone when nothing of an outcome is left", async () => {
    const world = testEngine(capped);
    await runs(world, 3, ann);
    const before = await exportState(world.engine);
    await runs(world, 50, { ...ann, reward: false, harmful: ["m1"] });
    expect((await exportState(world.engine)).shared).toMatchObject({
      lessons: (before.shared as { lessons: number }).lessons,
    });
  });

  it("says so in the log, with the source and never with a text", async () => {
    const world = testEngine(capped);
    await runs(world, 4, ann);
    expect(world.logs).toEqual([
      {
        level: "warn",
        message: expect.stringContaining("ann"),
        fields: {
          code: "SOURCE_CAPPED",
          namespace: "default",
          episode: expect.any(String),
          source: "ann",
          memories: 1,
        },
      },
    ]);
  });

  it("does not bind verdicts, failures that were seen, or ends of runs", async () => {
    const world = testEngine(capped);
    for (const tier of ["verified", "observed", "completed"] as const) {
      await runs(world, 10, { reward: true, tier, weight: 1, source: "one" });
    }
    expect(await evidence(world)).toEqual({ a: 30 });
    await runs(world, 10, { reward: true, tier: "self-reported", source: "agent" });
    expect(await evidence(world)).toEqual({ a: 33 });
  });

  it("binds who reports before anything was shown, too", async () => {
    const world = testEngine(capped);
    for (let i = 0; i < 10; i++) {
      const episode = world.engine.open();
      await world.engine.report(episode, { reward: true, tier: "self-reported", source: "agent" });
      await world.engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, episode });
      await world.engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, episode });
      await world.engine.end(episode);
    }
    // Two exposures carry half of the outcome each, and the memory counts in one of them.
    expect(await evidence(world)).toEqual({ a: 1.5 });
    expect(await world.engine.status()).toMatchObject({ taught: 3, cappedCredits: 7 });
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("is charged once for reward and votes of one outcome, and for the named memories only when it is votes alone", async () => {
    const world = testEngine(capped);
    for (let i = 0; i < 5; i++) {
      await oneRun(world.engine, request({ topK: 2, keepOrder: true }), { ...ann, helpful: ["m1"] });
    }
    expect(await world.engine.status()).toMatchObject({ cappedCredits: 4, taught: 3 });
    for (let i = 0; i < 5; i++) {
      await oneRun(world.engine, request({ topK: 2, keepOrder: true }), { source: "bob", harmful: ["m2"] });
    }
    expect(await world.engine.status()).toMatchObject({ cappedCredits: 6 });
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("is charged once for a memory that its episode shows again", async () => {
    const world = testEngine(capped);
    for (let i = 0; i < 3; i++) {
      const { episode } = await world.engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
      await world.engine.report(episode, ann);
      await world.engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1, episode });
      await world.engine.end(episode);
    }
    expect(await world.engine.status()).toMatchObject({ taught: 3, cappedCredits: 0 });
  });

  it("leaves of capped votes nothing, so that a verdict beside them counts as if nobody had voted", async () => {
    const learned = async (vote: OutcomeInput | undefined): Promise<unknown> => {
      const world = testEngine({ governance: governance({ sourceCaps: { weight: 1, window: DAY } }) });
      for (const said of [{ source: "bob", harmful: ["m2"] }, vote]) {
        const { episode } = await world.engine.rank(request({ topK: 2, keepOrder: true }));
        if (said) await world.engine.report(episode, said);
        await world.engine.end(episode, { reward: true, tier: "verified" });
      }
      return (await exportState(world.engine)).memories;
    };
    expect(await learned({ source: "bob", harmful: ["m2"] })).toEqual(await learned(undefined));
    expect(await learned({ source: "ann", harmful: ["m2"] })).not.toEqual(await learned(undefined));
  });

  it("binds each of two sources whose votes count side by side", async () => {
    const world = testEngine({ governance: governance({ sourceCaps: { weight: 1, window: DAY } }) });
    const { engine } = world;
    await runs(world, 1, { source: "ann", helpful: ["a"] });
    const show = () => engine.rank({ candidates: ["a", "b"].map((id) => ({ id, similarity: 1 })), topK: 2 });
    const { episode } = await show();
    await engine.end(episode, { source: "ann", helpful: ["a"] });
    await engine.report(episode, { source: "bob", helpful: ["b"] });
    expect(await evidence(world)).toEqual({ a: 1, b: 1 });
    const next = await show();
    await engine.end(next.episode, { source: "bob", helpful: ["a"] });
    await engine.report(next.episode, { source: "ann", helpful: ["b"] });
    expect(await evidence(world)).toEqual({ a: 2, b: 2 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("gives way to better evidence, which counts in full", async () => {
    const world = testEngine(capped);
    await runs(world, 3, ann);
    const episode = await oneRun(world.engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 }, ann);
    expect(await evidence(world)).toEqual({ a: 3 });
    await world.engine.report(episode, { reward: true, tier: "verified" });
    expect(await evidence(world)).toEqual({ a: 4 });
  });

  it("keeps a source that is beyond it from taking away what others of its tier said", async () => {
    const world = testEngine(capped);
    const { engine } = world;
    const said = async (outcome: OutcomeInput, id = "a"): Promise<string> => {
      const { episode } = await engine.rank({ candidates: [{ id, similarity: 1 }], topK: 1 });
      await engine.end(episode, { ...outcome, source: `of ${episode}` });
      return episode;
    };
    await runs(world, 3, { reward: false, source: "liar" });
    const rewarded = await said({ reward: true, tier: "user" });
    await engine.report(rewarded, { reward: false, source: "liar" });
    expect(await engine.explain(rewarded)).toMatchObject({ outcome: { reward: 1, source: `of ${rewarded}` } });
    const voted = await said({ helpful: ["a"] });
    await engine.report(voted, { harmful: ["a"], source: "liar" });
    expect((await engine.memories({ ids: ["a"] })).memories[0]).toMatchObject({ helpful: 1, harmful: 0, successes: 1 });
    expect(world.logs.map(({ fields }) => fields.code)).toEqual(["SOURCE_CAPPED", "SOURCE_CAPPED"]);
    expect(await engine.status()).toMatchObject({ cappedCredits: 2 });
    const other = await said({ reward: true, tier: "user" }, "b");
    await engine.report(other, { reward: false, source: "liar" });
    expect(await engine.explain(other)).toMatchObject({ outcome: { reward: 0, source: "liar" } });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("is part of the ledger: a replay without the option gives the same state", async () => {
    const world = testEngine(capped);
    await runs(world, 10, ann);
    const other = testEngine({ store: world.store, prefix: "other" }).engine;
    expect(await replay(other)).toMatchObject({ identical: true });
  });

  it("is off unless asked for: people who give no name share one", async () => {
    const world = testEngine();
    await runs(world, 50, { reward: true });
    expect(await evidence(world)).toEqual({ a: 50 });
  });

  it.each([
    [{ weight: 0, window: 1 }],
    [{ weight: 1, window: -1 }],
    [{ weight: 1 }],
    [{ weight: 1, window: Infinity }],
    [3],
  ])("is not %j", (sourceCaps) => {
    expect(() => governance({ sourceCaps: sourceCaps as never })).toThrowError(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining("sourceCaps") }),
    );
  });
});

describe("an engine without governance", () => {
  it("refuses to add to an episode whose outcome is capped, and says what it needs", async () => {
    const governed = testEngine({ governance: governance({ sourceCaps: { weight: 1, window: DAY } }) });
    const { episode } = await governed.engine.rank(request());
    await governed.engine.report(episode, { reward: 1, source: "ann" });
    await governed.engine.suspend(episode, { alias: "later" });
    const { engine } = testEngine({ store: governed.store, prefix: "plain" });
    expect(await engine.resume("later")).toBe(episode);
    await engine.rank(request({ episode }));
    await expect(engine.end(episode)).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringContaining("@qavr/core/governance"),
    });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});
