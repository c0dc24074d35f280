import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { PUBLISHED_SEEDS } from "../report/published-seeds.js";
import { runJobs } from "../threads/run-jobs.js";
import { COLUMNS, TOLD_COLUMNS } from "./columns.js";
import { REAL_SETS, type RealSetName } from "./real-sets.js";
import { realPage, realSummary, resultsOf } from "./report.js";
import { REAL_ROWS } from "./rows.js";
import { embedderOf, type RealJob, type RealResult } from "./worker.js";

const LOOK_ROWS = ["similarity", "beta-mean", "contexts", "oar"];

await runBenchmark({
  name: "real",
  help: "Learners on outcomes that really happened. A look takes two minutes, --full an hour on two cores.",
  versions: () => installedVersions(import.meta.url),
  async measure(full) {
    const seeds = full ? PUBLISHED_SEEDS : [1];
    const rows = full ? Object.keys(REAL_ROWS) : LOOK_ROWS;
    // Each thread would fit the embeddings of all sets; those that are kept on disk are only read.
    await withProgress("embeddings (kept for the next time)", async (update) => {
      const sets = Object.keys(REAL_SETS) as RealSetName[];
      for (const [place, set] of sets.entries()) {
        await embedderOf(set);
        update((place + 1) / sets.length);
      }
    });
    const jobs = seeds.flatMap((seed): RealJob[] => [
      ...COLUMNS.map(({ name }) => ({ column: name, seed })),
      ...[...COLUMNS, ...TOLD_COLUMNS].flatMap(({ name }) => rows.map((row) => ({ column: name, row, seed }))),
    ]);
    const results = await withProgress("trials", (update) =>
      runJobs<RealJob, RealResult>(new URL("./worker.mjs", import.meta.url), jobs, update),
    );
    return resultsOf(results);
  },
  summary: realSummary,
  page: realPage,
});
