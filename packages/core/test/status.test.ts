import { describe, expect, it } from "vitest";
import { type Learner, qValue } from "../src/index.js";
import { forget, replay } from "../src/maintenance/index.js";
import { candidates, MINUTE, oneRun, request, testEngine, testEpisode } from "./support/test-engine.js";

describe("status", () => {
  it("of a namespace that nobody used is empty", async () => {
    const { engine } = testEngine();
    expect(await engine.status({ namespace: "nobody" })).toEqual({
      namespace: "nobody",
      checkpoint: 0,
      learner: "oar@2",
      seq: 0,
      episodes: { open: 0, recorded: 0, suspended: 0, abandoned: 0 },
      outcomes: { verified: 0, user: 0, observed: 0, "self-reported": 0, completed: 0 },
      unknownOutcomes: 0,
      corrections: 0,
      revocations: 0,
      rebuildPending: false,
      taught: 0,
      contexts: [],
      cappedCredits: 0,
      sources: [],
      collections: [],
    });
  });

  it("counts what happened", async () => {
    const { engine, clock } = testEngine({ episodeTtl: MINUTE });
    const rank = async (): Promise<string> => (await engine.rank(request({ keepOrder: true }))).episode;
    await engine.end(await rank(), { reward: true, tier: "self-reported" });
    await engine.end(await rank(), { reward: false, tier: "verified" });
    await engine.end(await rank(), {});
    await engine.end(await rank());
    await engine.suspend(await rank(), { alias: "thread" });
    const corrected = await rank();
    await engine.end(corrected, { reward: true, tier: "completed" });
    await engine.report(corrected, { reward: false, tier: "observed" });
    await rank();
    clock.now += 2 * MINUTE;
    await engine.flush();
    await rank();
    const status = await engine.status();
    expect(status).toMatchObject({
      episodes: { open: 1, recorded: 7, suspended: 1, abandoned: 1 },
      outcomes: { verified: 1, user: 1, observed: 1, "self-reported": 1, completed: 1 },
      unknownOutcomes: 1,
      corrections: 1,
      taught: 3,
    });
    // Seven exposures and five outcomes.
    expect(status.seq).toBe(12);
    expect(status.collections).toMatchObject([{ collection: "default", memories: 3, withEvidence: 3 }]);
    expect(status.collections[0]?.learner).toMatchObject({ lessons: 3, dims: 4 });
  });

  it("lists no memory as best and worst", async () => {
    const { engine } = testEngine();
    const extremesAfter = async (count: number): Promise<unknown> => {
      await engine.end((await engine.rank(request({ candidates: candidates(count), topK: count }))).episode, {
        reward: true,
        tier: "verified",
        harmful: count > 1 ? [`d${count - 1}`] : [],
      });
      const { best, worst } = (await engine.status()).collections[0] ?? {};
      return [best?.map(({ id }) => id), worst?.map(({ id }) => id)];
    };
    expect(await extremesAfter(1)).toEqual([["d0"], []]);
    expect(await extremesAfter(2)).toEqual([["d0"], ["d1"]]);
    expect(await extremesAfter(3)).toEqual([["d0", "d1"], ["d2"]]);
  });

  it("names memories by their latest label until they are forgotten", async () => {
    const { engine } = testEngine();
    const run = (...labels: readonly (string | undefined)[]): Promise<unknown> =>
      engine
        .rank(
          request({
            candidates: candidates(3).map((candidate, i) => ({ ...candidate, label: labels[i] })),
            topK: 3,
            keepOrder: true,
          }),
        )
        .then(({ episode }) => engine.end(episode, { reward: true, tier: "verified", harmful: ["d1"] }));
    const labels = async (): Promise<unknown> => {
      const { best = [], worst = [] } = (await engine.status()).collections[0] ?? {};
      return Object.fromEntries([...best, ...worst].map(({ id, label }) => [id, label]));
    };
    await run("Restart the pod", "A joke \u{1f600}");
    expect(await labels()).toEqual({ d0: "Restart the pod", d1: "A joke \u{1f600}", d2: undefined });
    await run(undefined, "An old joke");
    expect(await labels()).toEqual({ d0: "Restart the pod", d1: "An old joke", d2: undefined });
    expect(await replay(engine)).toMatchObject({ identical: true });
    await forget(engine, { namespace: "default", ids: ["d1"] });
    await run();
    expect(await labels()).toEqual({ d0: "Restart the pod", d1: undefined, d2: undefined });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("says of each kind of task how much was seen of it, and whether that is much", async () => {
    const { engine } = testEngine();
    const run = async (context: string | undefined, ...more: readonly string[]): Promise<void> => {
      const { episode } = await engine.rank(request(context === undefined ? {} : { context }));
      for (const other of more) await engine.rank(request({ context: other, episode }));
      await engine.end(episode, more.length > 0 ? {} : { reward: true });
    };
    for (let i = 0; i < 100; i++) await run("deploy");
    for (let i = 0; i < 99; i++) await run("review");
    await run(undefined);
    await run("review", "deploy", "deploy", "__proto__");
    const status = await engine.status();
    expect(status.contexts).toEqual([
      { context: "deploy", episodes: 101, taught: 100, state: "warm" },
      { context: "review", episodes: 100, taught: 99, state: "cold" },
      { context: "__proto__", episodes: 1, taught: 0, state: "cold" },
    ]);
    expect(status.otherContexts).toBeUndefined();
  });

  it("calls a context warm when the learner does", async () => {
    const { engine } = testEngine({ learner: qValue({ warmThreshold: 10 }) as Learner });
    for (const [context, runs] of [
      ["deploy", 10],
      ["review", 9],
    ] as const) {
      for (let i = 0; i < runs; i++) await engine.end((await engine.rank(request({ context }))).episode, { reward: 1 });
    }
    const { contexts, collections } = await engine.status();
    expect(contexts.map(({ context, state }) => [context, state])).toEqual([
      ["deploy", "warm"],
      ["review", "cold"],
    ]);
    expect(collections[0]?.learner).toMatchObject({ contexts: { deploy: { mode: "warm" }, review: { mode: "cold" } } });
  });

  it("counts an episode that is recorded in parts and corrected once in its context", async () => {
    const { engine, episode } = await testEpisode({ context: "deploy" });
    await engine.report(episode, { reward: true });
    await engine.rank(request({ context: "deploy", episode }));
    await engine.end(episode);
    await engine.report(episode, { reward: false, tier: "verified" });
    expect((await engine.status()).contexts).toMatchObject([{ episodes: 1, taught: 1 }]);
  });

  it("keeps thirty-two kinds of task apart and the rest together, so that labels cannot grow the state", async () => {
    const { engine } = testEngine();
    for (let i = 0; i < 50; i++) await oneRun(engine, request({ context: `task ${i}` }), { reward: true });
    for (const context of ["task 3", "task 49"]) {
      await engine.end((await engine.rank(request({ context }))).episode, { reward: true });
    }
    const { contexts, otherContexts } = await engine.status();
    expect(contexts).toHaveLength(32);
    expect(contexts[3]).toMatchObject({ context: "task 3", episodes: 2, taught: 2 });
    expect(otherContexts).toEqual({ episodes: 19, taught: 19 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });

  it("Q14: lists the ten best and the ten worst memories", async () => {
    const { engine } = testEngine();
    for (let i = 0; i < 25; i++) {
      await oneRun(engine, { candidates: [{ id: `m${i}`, similarity: 1 }], topK: 1 }, { reward: i / 24, weight: 1 });
    }
    const [collection] = (await engine.status()).collections;
    const best = collection?.best.map(({ utility }) => utility) ?? [];
    const worst = collection?.worst.map(({ utility }) => utility) ?? [];
    expect([best.length, worst.length]).toEqual([10, 10]);
    expect(best).toEqual([...best].sort((a, b) => b - a));
    expect(worst).toEqual([...worst].sort((a, b) => a - b));
    expect(collection).toMatchObject({ memories: 25, withEvidence: 25 });
  });
});
