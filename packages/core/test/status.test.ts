import { describe, expect, it } from "vitest";
import { MINUTE, request, testEngine } from "./support/test-engine.js";

describe("status", () => {
  it("of a namespace that nobody used is empty", async () => {
    const { engine } = testEngine();
    expect(await engine.status({ namespace: "nobody" })).toEqual({
      namespace: "nobody",
      learner: "cav@1",
      seq: 0,
      episodes: { open: 0, recorded: 0, parked: 0, abandoned: 0 },
      outcomes: { verified: 0, user: 0, observed: 0, "self-reported": 0, completed: 0 },
      unknownOutcomes: 0,
      corrections: 0,
      revocations: 0,
      rebuildPending: false,
      taught: 0,
      cappedCredits: 0,
      sources: [],
      collections: [],
    });
  });

  it("counts what happened", async () => {
    const { engine, clock } = testEngine({ episodeTtl: MINUTE });
    const rank = async (): Promise<string> => (await engine.rank(request({ keepOrder: true }))).episode;
    await engine.end(await rank(), { reward: true, tier: "completed" });
    await engine.end(await rank(), { reward: false, tier: "verified" });
    await engine.end(await rank(), {});
    await engine.end(await rank());
    await engine.park(await rank(), { alias: "thread" });
    const corrected = await rank();
    await engine.end(corrected, { reward: true, tier: "completed" });
    await engine.report(corrected, { reward: false, tier: "observed" });
    await rank();
    clock.now += 2 * MINUTE;
    await engine.flush();
    await rank();
    const status = await engine.status();
    expect(status).toMatchObject({
      episodes: { open: 1, recorded: 7, parked: 1, abandoned: 1 },
      outcomes: { verified: 1, user: 1, observed: 1, "self-reported": 0, completed: 2 },
      unknownOutcomes: 1,
      corrections: 1,
      taught: 3,
    });
    // Seven exposures and five outcomes.
    expect(status.seq).toBe(12);
    expect(status.collections).toMatchObject([{ collection: "default", memories: 3, withEvidence: 3 }]);
    expect(status.collections[0]?.learner).toMatchObject({ lessons: 3, dims: 4 });
  });

  it("lists the ten best and the ten worst memories with quartiles of their utilities", async () => {
    const { engine } = testEngine();
    for (let i = 0; i < 25; i++) {
      const { episode } = await engine.rank({ candidates: [{ id: `m${i}`, similarity: 1 }], topK: 1 });
      await engine.end(episode, { reward: i / 24, weight: 1 });
    }
    const [collection] = (await engine.status()).collections;
    const best = collection?.best.map(({ utility }) => utility) ?? [];
    const worst = collection?.worst.map(({ utility }) => utility) ?? [];
    expect([best.length, worst.length]).toEqual([10, 10]);
    expect(best).toEqual([...best].sort((a, b) => b - a));
    expect(worst).toEqual([...worst].sort((a, b) => a - b));
    const quartiles = collection?.utilityQuartiles ?? [];
    expect(quartiles).toHaveLength(5);
    expect(quartiles).toEqual(quartiles.toSorted((a, b) => a - b));
    expect([quartiles[0], quartiles[4]]).toEqual([worst[0], best[0]]);
  });
});
