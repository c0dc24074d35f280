import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memoryStore, type Store } from "@qavr/core";
import { sqliteStore } from "@qavr/sqlite";
import { compare } from "../learning/comparison.js";
import { decodeResults } from "../learning/results.js";
import { installedVersions } from "../report/machine.js";
import { type Measured, type Measurement, type MeasureOptions, measureInterleaved } from "../speed/measure.js";
import { buildVectorIndex } from "../speed/vector-index.js";
import { startProgress } from "../terminal/progress.js";
import { costs } from "./costs.js";
import { createHistory, HISTORY, type History, historyIndex } from "./history.js";
import { costReport, costTable, FILES, reportPage } from "./report.js";
import { DIMS, SUBJECTS, type Subject } from "./subjects.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));

/** A durable commit waits for the disk: fewer of them are timed. */
const IN_MEMORY: MeasureOptions = { rounds: 12, turns: 40, warmup: 2 };
const ON_DISK: MeasureOptions = { rounds: 12, turns: 30, warmup: 1 };

/** A learner at one length of request vectors. */
interface Case {
  readonly subject: Subject;
  readonly dims: number;
}

const CASES: readonly Case[] = DIMS.flatMap((dims) => SUBJECTS.map((subject): Case => ({ subject, dims })));

/** Histories of all cases over one kind of store, each in a store of its own, and the times of their next outcomes. */
async function observe(
  label: string,
  createStore: (place: number) => Store,
  options: MeasureOptions,
): Promise<readonly { readonly history: History; readonly measurement: Measurement }[]> {
  const histories: History[] = [];
  try {
    const learning = startProgress(`histories ${label}`, process.stderr);
    for (const [place, { subject, dims }] of CASES.entries()) {
      const index = buildVectorIndex(historyIndex(HISTORY, dims));
      histories.push(await createHistory(index, createStore(place), subject.learner()));
      learning.update((place + 1) / CASES.length);
    }
    learning.clear();
    const timing = startProgress(`outcomes ${label}`, process.stderr);
    const measurements = await measureInterleaved(
      histories.map((history, place) => outcome(CASES[place] as Case, label, history)),
      { ...options, onProgress: timing.update },
    );
    timing.clear();
    return histories.map((history, place) => ({ history, measurement: measurements[place] as Measurement }));
  } finally {
    for (const { engine } of histories) await engine.close();
  }
}

/** The part that is timed; which request comes next is the history's business. */
function outcome({ subject, dims }: Case, label: string, history: History): Measured {
  return {
    name: `${subject.name}, ${dims} dims, ${label}`,
    prepare: () => history.open(),
    run: (_, episode) => history.teach(episode as string),
  };
}

async function main(): Promise<void> {
  const gains = compare(decodeResults(await readFile(join(DOCS, FILES.gains), "utf8")));
  const folder = await mkdtemp(join(tmpdir(), "qavr-cost-"));
  try {
    const inMemory = await observe("in memory", () => memoryStore(), IN_MEMORY);
    const onDisk = await observe("on SQLite", (place) => sqliteStore(join(folder, `${place}.db`)), ON_DISK);
    const results = costs(
      CASES.map(({ subject, dims }, place) => ({
        learner: subject.name,
        revisits: subject.revisits,
        dims,
        counted: { inMemory: inMemory[place]!.history.counted, onDisk: onDisk[place]!.history.counted },
        inMemory: inMemory[place]!.measurement,
        onDisk: onDisk[place]!.measurement,
      })),
    );
    const report = costReport({
      versions: installedVersions(),
      history: HISTORY,
      costs: results,
      measurements: [...inMemory, ...onDisk].map(({ measurement }) => measurement),
    });
    process.stdout.write(`${costTable(results)}\n`);
    await writeFile(join(DOCS, FILES.page), reportPage(report, gains));
    await writeFile(join(DOCS, FILES.raw), `${JSON.stringify(report, undefined, 2)}\n`);
    process.stderr.write(`written: docs/benchmarks/${FILES.page} and ${FILES.raw}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
