import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installedVersions, withProgress } from "@qavr/lab";
import { runBenchmark } from "../report/benchmark.js";
import { resultLines } from "../report/speed-tables.js";
import { LOOK, type MeasureOptions, measureInterleaved } from "../speed/measure.js";
import { createContenders } from "./contenders.js";
import { buildDocumentIndex } from "./document-index.js";
import { handlerParts } from "./handler-parts.js";
import { modelCalls } from "./model-calls.js";
import { adapterPage, contenderTable } from "./report.js";
import { type AdapterResults, adapterTargets, DELAYS, type Setting } from "./targets.js";

/** A turn with delays takes ten times as long as one without. */
const TURNS_DELAYED = { look: 8, full: 50 } as const;

await runBenchmark<AdapterResults>({
  name: "adapter",
  help: "A look takes a minute, --full eight.",
  versions: () =>
    installedVersions(import.meta.url, "@langchain/core", "@langchain/classic", "@langchain/community", "hnswlib-node"),
  async measure(full) {
    const calls = modelCalls();
    const index = await buildDocumentIndex(calls);
    await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-adapter-"));
    const contenders = await createContenders(index, calls, folder.path);
    const plan: MeasureOptions = full ? {} : LOOK;
    try {
      const settings: Setting[] = [];
      for (const delay of DELAYS) {
        calls.delay = delay;
        const turns = delay === 0 ? {} : { turns: full ? TURNS_DELAYED.full : TURNS_DELAYED.look, warmup: 1 };
        const measurements = await withProgress(`${delay} ms per model call`, (onProgress) =>
          measureInterleaved(contenders.parts, { ...plan, ...turns, onProgress }),
        );
        settings.push({ delay, measurements });
      }
      const parts = await handlerParts(contenders.memories.learnedInMemory);
      return { settings, handler: await measureInterleaved(parts, plan) };
    } finally {
      await contenders.close();
    }
  },
  summary: (results) => [contenderTable(results.settings), ...resultLines(adapterTargets(results))].join("\n"),
  page: adapterPage,
});
