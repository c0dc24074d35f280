import type { LiftReport } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import { expect, it } from "vitest";
import type { StatusReport } from "../src/reports/status.js";
import { appEngine, newPath } from "./support/ledgers.js";
import { dataOf, qavr } from "./support/run.js";

it.each([
  [{ holdout: 0.3, memoryOff: 0.3 }, (episodes: LiftReport["episodes"]) => episodes.learned],
  // No run has the learned order, so the curve is that of the host's.
  [{ holdout: 1 }, (episodes: LiftReport["episodes"]) => episodes.holdout],
] as const)("the curve has each run with memories once, those held out apart, with %j", async (options, learnedOf) => {
  const path = newPath();
  const engine = appEngine(sqliteStore(path), options);
  const candidates = ["a", "b", "c"].map((id, i) => ({ id, similarity: 0.9 - i / 10 }));
  for (let run = 0; run < 60; run++) {
    const { episode, items } = await engine.rank({ candidates, topK: 2 });
    if (run % 2 === 0) {
      await engine.suspend(episode, { alias: "thread" });
      await engine.resume("thread");
    }
    await engine.end(episode, { reward: items.length > 0, tier: "verified" });
  }
  const { episodes } = (await engine.status()).lift as LiftReport;
  await engine.close();
  const { stdout } = await qavr("status", "-s", path);
  expect(stdout).toContain(`100 % → 100 % over ${episodes.learned + episodes.holdout} judged runs`);
  const { curve } = (await dataOf("status", "-s", path)) as StatusReport;
  expect(curve.points.reduce((sum, { runs }) => sum + runs, 0)).toBe(learnedOf(episodes));
});
