import { describe, expect, it } from "vitest";
import { ids, oneRun, request, testEngine } from "../../test/support/test-engine.js";
import { similarity } from "./similarity.js";

describe("similarity", () => {
  it("keeps the host's order whatever the outcomes, and records them all the same", async () => {
    const { engine } = testEngine({ learner: similarity() });
    for (let run = 0; run < 20; run++) await oneRun(engine, request(), { reward: false, harmful: ["d0"] });
    const ranking = await engine.rank(request());
    expect(ids(ranking)).toEqual(["d0", "d1", "d2"]);
    expect(ranking).toMatchObject({ order: "host", learner: "similarity@1", gate: 0 });
    expect(ranking.items.every(({ learned, evidence }) => learned === 0 && evidence === 0)).toBe(true);
    expect(await engine.status()).toMatchObject({
      outcomes: { user: 20 },
      collections: [{ memories: 3, withEvidence: 0, learner: {} }],
    });
  });

  it("asks the host for no more than it shows", async () => {
    const { engine } = testEngine({ learner: similarity() });
    await oneRun(engine, request(), { reward: true });
    expect(await engine.fetchSize({ topK: 7 })).toBe(7);
  });
});
