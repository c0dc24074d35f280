import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memoryStore, type Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { serverVersion, startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { Client } from "pg";
import { type Measured, type Measurement, measureInterleaved } from "../speed/measure.js";
import { parseFlags, runCommand } from "../terminal/command-line.js";
import { startProgress } from "../terminal/progress.js";
import { type EngineOutcome, measureEngineOutcomes } from "./engine-outcome.js";
import { fillMemories, READ_MEMORIES, READ_NAMESPACE, readPart } from "./reading.js";
import { recording } from "./recording.js";
import { engineTable, FILES, readTable, reportPage, sizeTable, storesReport, throughputTable } from "./report.js";
import { postgresBytes, probeOpening, type StoreSize, sqliteBytes } from "./size.js";
import { measureThroughput, type Throughput } from "./throughput.js";

const DOCS = fileURLToPath(new URL("../../../../docs/benchmarks/", import.meta.url));
const COMMAND = "pnpm bench:stores";
const FULL_MEMORIES = 1_000_000;

const HELP = `${COMMAND}          a look: 100,000 memories, short rounds; tables on stdout, written nowhere
${COMMAND} --full   a million memories, long rounds; writes docs/benchmarks/stores.* (ten minutes, 5 GB of disk)
${COMMAND} --help   this page

It starts a PostgreSQL server of its own and removes it.
`;

interface Plan {
  readonly memories: number;
  readonly rounds: number;
  /** ms */
  readonly duration: number;
}

async function measureRecording(
  folder: string,
  url: string,
  { rounds, duration }: Plan,
): Promise<readonly Throughput[]> {
  const { cases, close } = await recording(folder, url);
  const progress = startProgress("recording", process.stderr);
  try {
    return await measureThroughput(cases, { rounds, duration, onProgress: progress.update });
  } finally {
    progress.clear();
    await close();
  }
}

async function measureReading(folder: string, url: string): Promise<readonly Measurement[]> {
  const path = join(folder, "read.db");
  const schema = "read";
  const stores: Store[] = [];
  const opened = (store: Store): Store => {
    stores.push(store);
    return store;
  };
  const client = new Client(url);
  await client.connect();
  try {
    const parts: Measured[] = [
      readPart("SQLite, cached", opened(sqliteStore(path))),
      readPart("SQLite, not cached", opened(sqliteStore({ path, cacheBytes: 0 }))),
      readPart(
        "PostgreSQL, cached, within a staleness",
        opened(postgresStore({ connectionString: url, schema, staleness: 600_000, listen: false })),
        { mayLag: true },
      ),
      readPart("PostgreSQL, cached", opened(postgresStore({ connectionString: url, schema }))),
      readPart("PostgreSQL, not cached", opened(postgresStore({ connectionString: url, schema, cacheBytes: 0 }))),
      { name: "PostgreSQL, `select 1`", run: () => client.query({ name: "one", text: "select 1" }) },
    ];
    for (const store of [stores[0], stores[3]]) await fillMemories(store as Store, READ_NAMESPACE, READ_MEMORIES);
    const progress = startProgress("reading", process.stderr);
    const reads = await measureInterleaved(parts, { turns: 100, onProgress: progress.update });
    progress.clear();
    return reads;
  } finally {
    for (const store of stores) await store.close();
    await client.end();
  }
}

async function measureEngine(folder: string, url: string): Promise<readonly EngineOutcome[]> {
  const stores: Record<string, Store> = {
    "in memory": memoryStore(),
    SQLite: sqliteStore(join(folder, "engine.db")),
    PostgreSQL: postgresStore({ connectionString: url, schema: "engine" }),
  };
  const progress = startProgress("outcomes of the engine", process.stderr);
  try {
    return await measureEngineOutcomes(stores, { turns: 40, warmup: 1, onProgress: progress.update });
  } finally {
    progress.clear();
    for (const store of Object.values(stores)) await store.close();
  }
}

async function measureSizes(folder: string, url: string, memories: number): Promise<readonly StoreSize[]> {
  const namespace = "large";
  const path = join(folder, "large.db");
  const client = new Client(url);
  await client.connect();
  const measured = async (
    store: StoreSize["store"],
    location: string,
    open: () => Store,
    bytes: () => Promise<number>,
  ): Promise<StoreSize> => {
    const progress = startProgress(`${memories} memories in ${store}`, process.stderr);
    const filling = open();
    const started = performance.now();
    await fillMemories(filling, namespace, memories, progress.update);
    const filled = (performance.now() - started) / 1_000;
    await filling.close();
    progress.clear();
    const disk = await bytes();
    return {
      store,
      memories,
      filled,
      disk,
      opened: await probeOpening({ kind: store, location, namespace, memories }),
    };
  };
  try {
    return [
      await measured(
        "SQLite",
        path,
        () => sqliteStore(path),
        () => sqliteBytes(path),
      ),
      await measured(
        "PostgreSQL",
        url,
        () => postgresStore(url),
        () => postgresBytes(client, "qavr"),
      ),
    ];
  } finally {
    await client.end();
  }
}

async function main(): Promise<void> {
  const flags = parseFlags(COMMAND, process.argv.slice(2), { full: { type: "boolean" }, help: { type: "boolean" } });
  if (flags.help) {
    process.stdout.write(HELP);
    return;
  }
  const plan: Plan = flags.full
    ? { memories: FULL_MEMORIES, rounds: 8, duration: 1_500 }
    : { memories: 100_000, rounds: 3, duration: 500 };
  const folder = await mkdtemp(join(tmpdir(), "qavr-stores-"));
  const server = await startServer();
  const sizeServer = await startServer();
  try {
    const throughput = await measureRecording(folder, server.url(), plan);
    const reads = await measureReading(folder, server.url());
    const engine = await measureEngine(folder, server.url());
    const sizes = await measureSizes(folder, sizeServer.url(), plan.memories);
    const report = storesReport({
      command: flags.full ? `${COMMAND} --full` : COMMAND,
      versions: await versions(),
      rounds: plan.rounds,
      duration: plan.duration,
      throughput,
      reads,
      engine,
      sizes,
    });
    const tables = [throughputTable(throughput), engineTable(engine), readTable(reads), sizeTable(sizes)];
    process.stdout.write(`${tables.join("\n\n")}\n`);
    if (!flags.full) return;
    await mkdir(DOCS, { recursive: true });
    await writeFile(join(DOCS, FILES.page), reportPage(report));
    await writeFile(join(DOCS, FILES.raw), `${JSON.stringify(report, undefined, 2)}\n`);
    process.stderr.write(`written: docs/benchmarks/${FILES.page} and ${FILES.raw}\n`);
  } finally {
    await server.stop();
    await sizeServer.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function versions(): Promise<Readonly<Record<string, string>>> {
  const { version } = createRequire(import.meta.url)("pg/package.json") as { version: string };
  return {
    node: process.versions.node,
    SQLite: process.versions.sqlite ?? "unknown",
    PostgreSQL: await serverVersion(),
    pg: version,
  };
}

await runCommand(main);
