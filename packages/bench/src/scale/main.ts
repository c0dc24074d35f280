import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { FULL, LOOK, measureScale } from "./measure.js";
import { compare } from "./model.js";
import { comparedTable, reportPage } from "./report.js";

await runBenchmark({
  name: "scale",
  help: `A look takes two minutes and 5,000 tenants; --full a quarter of an hour, 100,000 tenants and 5 GB of disk.
It starts two PostgreSQL servers and removes them. Linux only.`,
  versions: () => installedVersions(import.meta.url, "pg"),
  measure: (full) => withProgress("scale", (onProgress) => measureScale(full ? FULL : LOOK, { onProgress })),
  summary: (results) => comparedTable(compare(results)),
  page: reportPage,
});
