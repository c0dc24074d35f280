import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { type ListingResult, measureListing } from "./listing.js";
import { type MatchingResult, measureMatching, measureTwins, type TwinResult } from "./matching.js";
import { type ProcedureResults, procedureSummary, reportPage, trialPlot } from "./report.js";
import { measureSpeed } from "./speed.js";
import { measureTrials } from "./trials.js";

const LOOK = { seeds: 1, runs: 200, tests: 100, trials: 100, listed: 200 };
const FULL = { seeds: 3, runs: 1_000, tests: 500, trials: 500, listed: 1_000 };
const PLOT = fileURLToPath(new URL("../../../../docs/benchmarks/procedures.svg", import.meta.url));

async function measureProcedures(full: boolean): Promise<ProcedureResults> {
  const { seeds, runs, tests, trials, listed } = full ? FULL : LOOK;
  const speed = await measureSpeed();
  const matching: MatchingResult[] = [];
  const twins: TwinResult[] = [];
  const listing: ListingResult[] = [];
  await withProgress("runs", async (onProgress) => {
    for (let seed = 1; seed <= seeds; seed++) {
      matching.push(...(await measureMatching(seed, runs, tests)));
      twins.push(await measureTwins(seed, runs, tests));
      listing.push(await measureListing(seed, listed));
      onProgress(seed / seeds);
    }
  });
  const results = { runs, matching, twins, speed, trials: measureTrials(trials), listing };
  if (full) await writeFile(PLOT, trialPlot(results.trials));
  return results;
}

await runBenchmark({
  name: "procedures",
  help: "A look takes a minute; --full some minutes.",
  versions: () => installedVersions(import.meta.url),
  measure: measureProcedures,
  summary: procedureSummary,
  page: reportPage,
});
