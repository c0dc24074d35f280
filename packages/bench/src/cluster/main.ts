import { installedVersions, UsageError, withProgress } from "@qavr/lab";
import { hasCitus } from "@qavr/postgres-server";
import { runBenchmark } from "../report/benchmark.js";
import { comparedTable } from "../scale/report.js";
import { FULL, LOOK, measureCluster } from "./measure.js";
import { compare } from "./model.js";
import { reportPage, waysTable } from "./report.js";

await runBenchmark({
  name: "cluster",
  help: `A look takes two minutes, --full some ten. It starts PostgreSQL servers and Citus clusters, and removes them. Linux only;
QAVR_CITUS_BIN names the folder of their programs.`,
  versions: () => installedVersions(import.meta.url, "pg"),
  measure(full) {
    if (!hasCitus()) throw new UsageError("It needs Citus: QAVR_CITUS_BIN names the folder of its programs.");
    return withProgress("cluster", (onProgress) => measureCluster(full ? FULL : LOOK, { onProgress }));
  },
  summary: (results) => [waysTable(results), comparedTable(compare(results))].join("\n\n"),
  page: reportPage,
});
