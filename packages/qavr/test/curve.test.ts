import type { LiftReport, Ranking } from "@qavr/core";
import { compact, revoke } from "@qavr/core/maintenance";
import { sqliteStore } from "@qavr/sqlite";
import { expect, it } from "vitest";
import type { StatusReport } from "../src/reports/status.js";
import { appEngine, newLedger, newPath, oneRun } from "./support/ledgers.js";
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

it("the curve has no point of held-out runs alone, where most runs are held out", async () => {
  const { path, engine } = newLedger({ holdout: 0.9 });
  const candidates = ["a", "b", "c"].map((id, i) => ({ id, similarity: 0.9 - i / 10 }));
  for (let run = 0; run < 200; run++) {
    const { episode, heldOut } = await engine.rank({ candidates, topK: 2 });
    await engine.end(episode, { reward: heldOut !== true, tier: "verified" });
  }
  const { episodes } = (await engine.status()).lift as LiftReport;
  await engine.close();
  const { curve } = (await dataOf("status", "-s", path)) as StatusReport;
  const sumOf = (runsOf: (point: (typeof curve.points)[number]) => number) =>
    curve.points.reduce((sum, point) => sum + runsOf(point), 0);
  expect(curve.points.map(({ success }) => success)).toEqual(curve.points.map(() => 1));
  expect(sumOf(({ runs }) => runs)).toBe(episodes.learned);
  expect(sumOf(({ heldOut }) => heldOut?.runs ?? 0)).toBe(episodes.holdout);
});

it("the curve leaves out runs whose retrievals were compacted away, since they may have been held out", async () => {
  const { path, engine } = newLedger({ holdout: 0.5, memoryOff: 0.2 });
  const candidates = ["a", "b", "c"].map((id, i) => ({ id, similarity: 0.9 - i / 10 }));
  const before: Ranking[] = [];
  for (let run = 0; run < 40; run++) {
    const ranked = await engine.rank({ candidates, topK: 2 });
    before.push(ranked);
    if (run % 2 === 0) await engine.end(ranked.episode);
    else await engine.suspend(ranked.episode, { alias: ranked.episode });
  }
  await compact(engine, { namespace: "default", olderThan: 0 });
  for (const [run, { episode, heldOut }] of before.entries()) {
    if (run % 2 === 1) await engine.resume(episode);
    await engine[run % 2 === 0 ? "report" : "end"](episode, { reward: !heldOut, tier: "verified" });
  }
  for (let run = 0; run < 20; run++) {
    const { episode, heldOut } = await engine.rank({ candidates, topK: 2 });
    await engine.end(episode, { reward: !heldOut, tier: "verified" });
  }
  await engine.close();
  const { curve, runs } = (await dataOf("status", "-s", path)) as StatusReport;
  expect(runs.coverage).toBe(1);
  expect(curve.points.map(({ success }) => success)).toEqual(curve.points.map(() => 1));
  expect(curve.points.map(({ heldOut }) => heldOut?.success)).toEqual(curve.points.map(() => 0));
});

it("the curve goes by the better tier, also where a weaker outcome came later", async () => {
  const { path, engine } = newLedger();
  const episode = await oneRun(
    engine,
    { candidates: [{ id: "a", similarity: 1 }], topK: 1 },
    { reward: true, tier: "verified" },
  );
  await engine.report(episode, { reward: false, tier: "user" });
  await engine.close();
  const { curve } = (await dataOf("status", "-s", path)) as StatusReport;
  expect(curve.points.map(({ success }) => success)).toEqual([1]);
});

it("the curve has the runs that threw after the agent had reported a success", async () => {
  const { path, engine } = newLedger();
  for (let run = 0; run < 20; run++) {
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.report(episode, { reward: true, tier: "self-reported" });
    await engine.end(
      episode,
      run % 2 === 0 ? { reward: false, tier: "observed" } : { reward: true, tier: "completed" },
    );
  }
  await engine.close();
  const { stdout } = await qavr("status", "-s", path);
  expect(stdout).toContain("50 % → 50 % over 20 judged runs");
});

it("the share of runs with an outcome is that of the runs that are not suspended, and says so", async () => {
  const { path, engine } = newLedger();
  for (let run = 0; run < 3; run++) {
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    if (run === 0) await engine.end(episode, { reward: true });
    else await engine.suspend(episode, { alias: `thread ${run}` });
  }
  await engine.close();
  const { stdout } = await qavr("status", "-s", path);
  expect(stdout).toContain("3 recorded, 2 suspended, 100 % of the others with an outcome");
});

it("the share of runs with an outcome counts those that have votes and no reward, without revoked ones", async () => {
  const { path, engine } = newLedger();
  for (let run = 0; run < 8; run++) {
    const episode = await oneRun(engine, { candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    if (run < 4) await engine.report(episode, { helpful: ["a"], source: run < 2 ? "ann" : "bob" });
  }
  const shareOf = async (): Promise<unknown> => ((await dataOf("status", "-s", path)) as StatusReport).runs.coverage;
  expect(await shareOf()).toBe(0.5);
  await revoke(engine, { namespace: "default", source: "bob" });
  await engine.close();
  expect(await shareOf()).toBe(0.25);
});

it("the reporters behind the curve are those whose outcomes stand, without revoked ones", async () => {
  const { path, engine } = newLedger();
  for (const source of ["ann", "bob", "ann"]) {
    const { episode } = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    await engine.end(episode, { reward: true, tier: "verified", source });
  }
  await revoke(engine, { namespace: "default", source: "bob" });
  await engine.close();
  const { outcomes, reporters } = (await dataOf("status", "-s", path)) as StatusReport;
  expect(outcomes.verified).toBe(2);
  expect(reporters).toEqual([{ source: "ann", tier: "verified", outcomes: 2, success: 1 }]);
});
