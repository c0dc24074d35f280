import { oar } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { type BusyPlan, FULL, measureBusy } from "../src/busy/measure.js";
import { batchTable, ledgersTable, reportPage } from "../src/busy/report.js";
import { MERGES, type Merge, subLedgers } from "../src/busy/sub-ledgers.js";
import { engineArm } from "../src/learning/engine-arm.js";
import { runTrial } from "../src/learning/protocol.js";
import { prepare, worldOf } from "../src/learning/run-job.js";
import { reportOf } from "../src/report/benchmark.js";

describe("sub-ledgers", () => {
  it("rank as the default learner where there is one, and better together than each alone", async () => {
    const { split, retrieval } = await prepare("banking77");
    const world = worldOf({ set: "banking77", scenario: "main", seed: 1 }, split);
    const short = { ...world, stream: world.stream.slice(0, 300), heldOut: world.heldOut.slice(0, 40) };
    const trial = (learner: unknown): ReturnType<typeof runTrial> =>
      runTrial(short, retrieval, () => engineArm(short, { learner: () => learner as never }));
    const one = await trial(oar());
    for (const merge of MERGES) expect(await trial(subLedgers(1, merge)), merge).toEqual(one);
    const online = async (merge: Merge): Promise<number> => (await trial(subLedgers(4, merge))).online;
    expect(await online("mean")).toBeGreaterThan(await online("alone"));
  });
});

describe("a measurement of one busy namespace", () => {
  const tiny: BusyPlan = {
    ...FULL,
    waiting: [1, 20],
    outcomes: 40,
    rounds: 1,
    counts: [2],
    sets: ["banking77"],
    seeds: [1],
    runs: 100,
    reads: 10,
  };

  it("records in batches, reads from several ledgers, and learns in them", async () => {
    const results = await measureBusy(tiny);
    expect(results.batches.map(({ store, waiting }) => `${store} ${waiting}`)).toEqual([
      "in memory 1",
      "in memory 20",
      "PostgreSQL 1",
      "PostgreSQL 20",
    ]);
    for (const { rates, app } of results.batches) expect(Math.min(...rates, app)).toBeGreaterThan(0);
    expect(results.reads.map(({ count }) => count)).toEqual([1, 2]);
    expect(results.learned).toHaveLength(MERGES.length);
    const page = reportPage(reportOf("busy", {}, results));
    for (const table of [batchTable(results), ledgersTable(results)]) expect(page).toContain(table);
  });
});
