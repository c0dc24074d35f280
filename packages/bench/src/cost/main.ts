import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memoryStore, type Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { serverVersion, startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { Client } from "pg";
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

/** What was seen of one case over one kind of store. */
interface Seen {
  readonly history: History;
  readonly measurement: Measurement;
  /** Bytes that an outcome adds to a log, where there is one to ask. */
  readonly logged: number;
}

/**
 * Histories of all cases over one kind of store, each in a store of its own, and the times of their next outcomes.
 *
 * @param logLength bytes that the store's log had so far
 */
async function observe(
  label: string,
  createStore: (place: number) => Store,
  options: MeasureOptions,
  logLength: () => Promise<number> = async () => 0,
): Promise<readonly Seen[]> {
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
    const seen: Seen[] = [];
    for (const [place, history] of histories.entries()) {
      seen.push({ history, measurement: measurements[place] as Measurement, logged: await logged(history, logLength) });
    }
    return seen;
  } finally {
    for (const { engine } of histories) await engine.close();
  }
}

/** Outcomes whose log is measured. */
const LOGGED = 40;

async function logged(history: History, logLength: () => Promise<number>): Promise<number> {
  const episodes: string[] = [];
  while (episodes.length < LOGGED) episodes.push(await history.open());
  const before = await logLength();
  for (const episode of episodes) await history.teach(episode);
  return ((await logLength()) - before) / LOGGED;
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
  // Neither checkpoints nor vacuums of its own between two parts.
  const server = await startServer({ settings: { checkpoint_timeout: "1h", max_wal_size: "16GB", autovacuum: "off" } });
  const client = new Client(server.url());
  try {
    await client.connect();
    const inMemory = await observe("in memory", () => memoryStore(), IN_MEMORY);
    const onDisk = await observe("on SQLite", (place) => sqliteStore(join(folder, `${place}.db`)), ON_DISK);
    const onServer = await observe(
      "on PostgreSQL",
      (place) => postgresStore({ connectionString: server.url(), schema: `cost_${place}`, maxConnections: 2 }),
      ON_DISK,
      async () => {
        const { rows } = await client.query(
          "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes",
        );
        return rows[0].bytes as number;
      },
    );
    const results = costs(
      CASES.map(({ subject, dims }, place) => ({
        learner: subject.name,
        revisits: subject.revisits,
        dims,
        counted: {
          inMemory: inMemory[place]!.history.counted,
          onDisk: onDisk[place]!.history.counted,
          onServer: onServer[place]!.history.counted,
        },
        inMemory: inMemory[place]!.measurement,
        onDisk: onDisk[place]!.measurement,
        onServer: onServer[place]!.measurement,
        logged: onServer[place]!.logged,
      })),
    );
    const report = costReport({
      versions: { ...installedVersions(), PostgreSQL: await serverVersion() },
      history: HISTORY,
      costs: results,
      measurements: [...inMemory, ...onDisk, ...onServer].map(({ measurement }) => measurement),
    });
    process.stdout.write(`${costTable(results)}\n`);
    await writeFile(join(DOCS, FILES.page), reportPage(report, gains));
    await writeFile(join(DOCS, FILES.raw), `${JSON.stringify(report, undefined, 2)}\n`);
    process.stderr.write(`written: docs/benchmarks/${FILES.page} and ${FILES.raw}\n`);
  } finally {
    await client.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
