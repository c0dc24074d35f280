import { writeFile } from "node:fs/promises";
import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { FULL, LOOK, measureGrowth } from "./measure.js";
import { besideTable, growthPlots, growthTable, reportPage } from "./report.js";

const DOCS = new URL("../../../../docs/benchmarks/", import.meta.url);

await runBenchmark({
  name: "growth",
  help: "A look takes a minute and 20,000 outcomes; --full 1,000,000, half an hour and 1.5 GB of disk.",
  versions: () => installedVersions(import.meta.url),
  async measure(full) {
    const results = await withProgress("outcomes", (onProgress) => measureGrowth(full ? FULL : LOOK, onProgress));
    const plots = full ? Object.entries(growthPlots(results)) : [];
    for (const [name, plot] of plots) await writeFile(new URL(name, DOCS), plot);
    return results;
  },
  summary: (results) => [growthTable(results), besideTable(results)].join("\n\n"),
  page: reportPage,
});
