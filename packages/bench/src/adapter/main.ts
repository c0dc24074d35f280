import { runBenchmark } from "../report/benchmark.js";
import { installedVersions } from "../report/machine.js";
import { resultLines } from "../report/speed-tables.js";
import { LOOK, measureInterleaved } from "../speed/measure.js";
import { withProgress } from "../terminal/progress.js";
import { buildDocumentIndex } from "./document-index.js";
import { adapterParts } from "./parts.js";
import { adapterPage } from "./report.js";
import { adapterResults } from "./targets.js";
import { warmMemory } from "./warm-memory.js";

await runBenchmark({
  name: "adapter",
  help: "A look takes half a minute, --full two.",
  versions: () => installedVersions("hnswlib-node"),
  async measure(full) {
    const index = await buildDocumentIndex();
    const warm = await warmMemory(index);
    const parts = await adapterParts(index, warm);
    const measurements = await withProgress("adapter", (onProgress) =>
      measureInterleaved(parts, { ...(full ? {} : LOOK), onProgress }),
    );
    await warm.memory.close();
    return { results: adapterResults(measurements), measurements };
  },
  summary: ({ results }) => resultLines(results).join("\n"),
  page: adapterPage,
});
