import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { measureLearning } from "./learning.js";
import { measureOverhead } from "./overhead.js";
import { comparisons } from "./plans.js";
import { mastraResults, reportLines, reportPage } from "./report.js";

await runBenchmark({
  name: "mastra",
  help: "Whole agent runs: their success, and their time. A look takes a few seconds, --full some minutes.",
  versions: () => installedVersions(import.meta.url, "@mastra/core", "@mastra/memory", "@mastra/libsql"),
  async measure(full) {
    const learning = [];
    for (const comparison of comparisons(full)) {
      const result = await withProgress(comparison.name, (update) => measureLearning(comparison.plan, update));
      learning.push({ ...comparison, result });
    }
    const rounds = full ? { rounds: 12, turns: 10, warmup: 2 } : { rounds: 3, turns: 4, warmup: 1 };
    const overhead = await withProgress("overhead", (onProgress) => measureOverhead({ ...rounds, onProgress }));
    return mastraResults(learning, overhead);
  },
  summary: (results) => reportLines(results).join("\n"),
  page: reportPage,
});
