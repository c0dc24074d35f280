import { expect, it } from "vitest";
import { type BusyPlan, FULL, measureBusy } from "../src/busy/measure.js";
import { batchTable, reportPage } from "../src/busy/report.js";
import { reportOf } from "../src/report/benchmark.js";

it("records the outcomes of one busy namespace in batches", async () => {
  const tiny: BusyPlan = { ...FULL, waiting: [1, 20], outcomes: 40, rounds: 1 };
  const results = await measureBusy(tiny);
  expect(results.batches.map(({ store, waiting }) => `${store} ${waiting}`)).toEqual([
    "in memory 1",
    "in memory 20",
    "PostgreSQL 1",
    "PostgreSQL 20",
  ]);
  for (const { rates, app } of results.batches) expect(Math.min(...rates, app)).toBeGreaterThan(0);
  expect(reportPage(reportOf("busy", {}, results))).toContain(batchTable(results));
});
