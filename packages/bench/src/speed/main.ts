import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@qavr/core";
import { installedVersions, withProgress } from "@qavr/lab";
import { sqliteStore } from "@qavr/sqlite";
import { runBenchmark } from "../report/benchmark.js";
import { resultLines } from "../report/speed-tables.js";
import { LOOK, type Measured, type Measurement, measureInterleaved } from "./measure.js";
import { reportPage, type SpeedResults } from "./report.js";
import { PARTS, speedResults } from "./targets.js";
import { buildVectorIndex, INDEX, type VectorIndex } from "./vector-index.js";
import { TAUGHT, type WarmEngine, warmEngine } from "./warm-engine.js";
import { warmScoring } from "./warm-scoring.js";

/** Values of a request vector that the target of scoring is stated for: a host's own vectors are longer. */
const DEMANDED_DIMS = 256;

/** Ends the episode that a timed ranking opened, off the clock, so that open episodes do not pile up. */
const end = ({ engine }: WarmEngine): ((ranking: unknown) => Promise<unknown>) => {
  return (ranking) => engine.end((ranking as { episode: string }).episode);
};

/** Tells a recorded episode how it went; showing and recording it is off the clock. */
function outcomePart(name: string, { engine, request }: WarmEngine): Measured<string> {
  return {
    name,
    prepare: async (query) => {
      const { episode } = await engine.rank(request(query, { topK: TAUGHT }));
      await engine.end(episode);
      return episode;
    },
    run: (query, episode) => engine.report(episode, { reward: query % 2 === 0, tier: "verified" }),
  };
}

async function scoringParts(index: VectorIndex): Promise<readonly Measured[]> {
  const { plain, score } = PARTS.scoring;
  const run = await warmScoring({ ...index, queries: index.queries.map((query) => query.slice(0, DEMANDED_DIMS)) });
  return [
    { name: plain, run: (query) => index.search(query, 10) },
    { name: score, run },
  ];
}

async function memoryParts(index: VectorIndex): Promise<readonly Measured[]> {
  const { plain, fetch, rank, texts, unrecorded, outcome, both } = PARTS.memory;
  const warm = await warmEngine(index, memoryStore());
  const { engine, request } = warm;
  return [
    { name: plain, run: (query) => index.search(query, 10) },
    { name: fetch, run: (query) => index.search(query, 50) },
    { name: rank, run: (query) => engine.rank(request(query)), finish: end(warm) },
    { name: texts, run: (query) => engine.rank(request(query, { texts: true })), finish: end(warm) },
    { name: unrecorded, run: (query) => engine.rank(request(query, { record: false })) },
    outcomePart(outcome, warm) as Measured,
    {
      name: both,
      prepare: async (query) => (await engine.rank(request(query, { topK: TAUGHT }))).episode,
      run: (query, episode) => engine.end(episode as string, { reward: query % 2 === 0, tier: "verified" }),
    },
  ];
}

async function sqliteParts(index: VectorIndex, path: string): Promise<readonly Measured[]> {
  const { plain, rank, outcome } = PARTS.sqlite;
  const warm = await warmEngine(index, sqliteStore(path));
  return [
    { name: plain, run: (query) => index.search(query, 10) },
    { name: rank, run: (query) => warm.engine.rank(warm.request(query)), finish: end(warm) },
    outcomePart(outcome, warm) as Measured,
  ];
}

async function measureSpeed(full: boolean): Promise<SpeedResults> {
  const index = buildVectorIndex(INDEX);
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-speed-"));
  // One engine at a time, as in an application: several would push each other out of the processor's caches.
  const groups = {
    scoring: scoringParts,
    "memory store": memoryParts,
    "SQLite store": (of: VectorIndex) => sqliteParts(of, join(folder.path, "ledger.db")),
  };
  const measurements: Measurement[] = [];
  for (const [label, group] of Object.entries(groups)) {
    const parts = await group(index);
    const measured = await withProgress(label, (onProgress) =>
      measureInterleaved(parts, { ...(full ? {} : LOOK), onProgress }),
    );
    measurements.push(...measured);
  }
  return { results: speedResults(measurements), measurements };
}

await runBenchmark({
  name: "speed",
  help: "A look takes half a minute, --full two.",
  versions: () => installedVersions(import.meta.url, "hnswlib-node"),
  measure: measureSpeed,
  summary: ({ results }) => resultLines(results).join("\n"),
  page: reportPage,
});
