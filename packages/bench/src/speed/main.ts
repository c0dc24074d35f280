import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memoryStore } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import { installedVersions } from "../report/machine.js";
import { resultLines } from "../report/speed-tables.js";
import { type Measured, measureInterleaved } from "./measure.js";
import { reportPage, speedReport } from "./report.js";
import { PARTS, speedResults } from "./targets.js";
import { buildVectorIndex, INDEX } from "./vector-index.js";
import { TAUGHT, type WarmEngine, warmEngine } from "./warm-engine.js";
import { warmScoring } from "./warm-scoring.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

const note = (line: string): void => void process.stderr.write(`${line}\n`);

/** Ends the episode that a timed ranking opened, off the clock, so that open episodes do not pile up. */
const end = ({ engine }: WarmEngine): ((ranking: unknown) => Promise<unknown>) => {
  return (ranking) => engine.end((ranking as { episode: string }).episode);
};

async function main(): Promise<void> {
  note(`building the index: ${INDEX.count} vectors of ${INDEX.dims} floats`);
  const index = buildVectorIndex(INDEX);
  const folder = await mkdtemp(join(tmpdir(), "qavr-speed-"));
  const onDisk = sqliteStore(join(folder, "ledger.db"));
  try {
    note("warming the engines");
    const inMemory = await warmEngine(index, memoryStore());
    const inSqlite = await warmEngine(index, onDisk);
    const parts: Measured[] = [
      { name: PARTS.plain, run: (query) => index.search(query, 10) },
      { name: PARTS.fetch, run: (query) => index.search(query, 50) },
      { name: PARTS.scoring, run: await warmScoring(index) },
      { name: PARTS.memory, run: (query) => inMemory.engine.rank(inMemory.request(query)), finish: end(inMemory) },
      {
        name: PARTS.memoryTexts,
        run: (query) => inMemory.engine.rank(inMemory.request(query, { texts: true })),
        finish: end(inMemory),
      },
      { name: PARTS.unrecorded, run: (query) => inMemory.engine.rank(inMemory.request(query, { record: false })) },
      { name: PARTS.sqlite, run: (query) => inSqlite.engine.rank(inSqlite.request(query)), finish: end(inSqlite) },
      {
        name: PARTS.outcome,
        prepare: async (query) => {
          const { episode } = await inMemory.engine.rank(inMemory.request(query, { topK: TAUGHT }));
          await inMemory.engine.end(episode);
          return episode;
        },
        run: (query, episode) =>
          inMemory.engine.report(episode as string, { reward: query % 2 === 0, tier: "verified" }),
      },
      {
        name: PARTS.both,
        prepare: async (query) => (await inMemory.engine.rank(inMemory.request(query, { topK: TAUGHT }))).episode,
        run: (query, episode) => inMemory.engine.end(episode as string, { reward: query % 2 === 0, tier: "verified" }),
      },
    ];
    note("measuring");
    const measurements = await measureInterleaved(parts);
    const report = speedReport(measurements, speedResults(measurements), installedVersions());
    process.stdout.write(`${resultLines(report.results).join("\n")}\n`);
    await mkdir(DOCS, { recursive: true });
    await writeFile(join(DOCS, "speed.md"), reportPage(report));
    await writeFile(join(DOCS, "speed.json"), `${JSON.stringify(report, undefined, 2)}\n`);
    note(`written: docs/benchmarks/speed.md and speed.json`);
    await inMemory.engine.close();
    await inSqlite.engine.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
