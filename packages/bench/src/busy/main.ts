import { installedVersions, withProgress } from "@qavr/lab";
import { serverVersion } from "@qavr/postgres-server";
import { runBenchmark } from "../report/benchmark.js";
import { FULL, LOOK, measureBusy } from "./measure.js";
import { batchTable, reportPage } from "./report.js";

await runBenchmark({
  name: "busy",
  help: "A look takes a minute, --full some ten. It starts a PostgreSQL server and removes it. Linux only.",
  versions: async () => ({ ...installedVersions(import.meta.url, "pg"), PostgreSQL: await serverVersion() }),
  measure: (full) => withProgress("busy", (onProgress) => measureBusy(full ? FULL : LOOK, onProgress)),
  summary: batchTable,
  page: reportPage,
});
