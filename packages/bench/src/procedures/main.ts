import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { type HostedListingResult, measureHostedListing } from "./hosted-listing.js";
import { type ListingResult, measureListing } from "./listing.js";
import { type MatchingResult, measureMatching, measureTwins, type TwinResult } from "./matching.js";
import { type ProcedureResults, procedureSummary, reportPage, trialPlot } from "./report.js";
import { measureSpeed } from "./speed.js";
import { measureTrials } from "./trials.js";

const LOOK = { seeds: 1, runs: 200, tests: 100, trials: 100, listed: 200, hosted: 40 };
const FULL = { seeds: 8, runs: 1_000, tests: 500, trials: 500, listed: 1_000, hosted: 200 };
const PLOT = fileURLToPath(new URL("../../../../docs/benchmarks/procedures.svg", import.meta.url));

async function measureProcedures(full: boolean): Promise<ProcedureResults> {
  const { seeds, runs, tests, trials, listed, hosted } = full ? FULL : LOOK;
  const speed = await measureSpeed();
  const matching: MatchingResult[] = [];
  const twins: TwinResult[] = [];
  const listing: ListingResult[] = [];
  const hostedListing: HostedListingResult[] = [];
  await withProgress("runs", async (onProgress) => {
    for (let seed = 1; seed <= seeds; seed++) {
      matching.push(...(await measureMatching(seed, runs, tests)));
      twins.push(await measureTwins(seed, runs, tests));
      listing.push(await measureListing(seed, listed));
      hostedListing.push(...(await measureHostedListing(seed, hosted)));
      onProgress(seed / seeds);
    }
  });
  const results = { runs, matching, twins, speed, trials: measureTrials(trials), listing, hostedListing };
  if (full) await writeFile(PLOT, trialPlot(results.trials));
  return results;
}

await runBenchmark({
  name: "procedures",
  help: "A look takes a minute; --full a quarter of an hour.",
  versions: () => installedVersions(import.meta.url),
  measure: measureProcedures,
  summary: procedureSummary,
  page: reportPage,
});
