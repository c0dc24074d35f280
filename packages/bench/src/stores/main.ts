import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, type Store } from "@qavr/core";
import { installedVersions, withProgress } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { serverVersion, startServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import { Client } from "pg";
import { runBenchmark } from "../report/benchmark.js";
import { type Measured, type Measurement, measureInterleaved } from "../speed/measure.js";
import { type EngineOutcome, measureEngineOutcomes } from "./engine-outcome.js";
import { type KnownReads, measureKnownReads } from "./known.js";
import { fillMemories, READ_MEMORIES, READ_NAMESPACE, readPart } from "./reading.js";
import { recording } from "./recording.js";
import {
  engineText,
  knownTable,
  readTable,
  reportPage,
  type StoresResults,
  sizeTable,
  throughputTable,
} from "./report.js";
import { postgresBytes, probeOpening, type StoreSize, sqliteBytes } from "./size.js";
import { measureThroughput, type Throughput } from "./throughput.js";

async function measureRecording(
  folder: string,
  url: string,
  options: Pick<StoresResults, "rounds" | "duration">,
): Promise<readonly Throughput[]> {
  const { cases, close } = await recording(folder, url);
  try {
    return await withProgress("recording", (onProgress) => measureThroughput(cases, { ...options, onProgress }));
  } finally {
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
    return await withProgress("reading", (onProgress) => measureInterleaved(parts, { turns: 100, onProgress }));
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
  try {
    return await withProgress("outcomes of the engine", (onProgress) =>
      measureEngineOutcomes(stores, { turns: 40, warmup: 1, onProgress }),
    );
  } finally {
    for (const store of Object.values(stores)) await store.close();
  }
}

async function measureKnown(folder: string): Promise<readonly KnownReads[]> {
  const stores: Record<string, Store> = { "in memory": memoryStore(), SQLite: sqliteStore(join(folder, "known.db")) };
  try {
    return await withProgress("memories and history", (onProgress) =>
      measureKnownReads(stores, { turns: 40, warmup: 1, onProgress }),
    );
  } finally {
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
    const filling = open();
    const started = performance.now();
    await withProgress(`${memories} memories in ${store}`, (update) =>
      fillMemories(filling, namespace, memories, update),
    );
    const filled = (performance.now() - started) / 1_000;
    await filling.close();
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

async function measureStores(full: boolean): Promise<StoresResults> {
  const memories = full ? 1_000_000 : 100_000;
  const options = full ? { rounds: 8, duration: 1_500 } : { rounds: 3, duration: 500 };
  await using folder = await mkdtempDisposable(join(tmpdir(), "qavr-stores-"));
  await using server = await startServer();
  await using sizeServer = await startServer();
  return {
    ...options,
    throughput: await measureRecording(folder.path, server.url(), options),
    reads: await measureReading(folder.path, server.url()),
    engine: await measureEngine(folder.path, server.url()),
    known: await measureKnown(folder.path),
    sizes: await measureSizes(folder.path, sizeServer.url(), memories),
  };
}

await runBenchmark({
  name: "stores",
  help: `A look takes 100,000 memories and short rounds; --full a million memories, ten minutes and 5 GB of disk.
It starts two PostgreSQL servers and removes them.`,
  versions: async () => ({ ...installedVersions(import.meta.url, "pg"), PostgreSQL: await serverVersion() }),
  measure: measureStores,
  summary: ({ throughput, engine, reads, known, sizes }) =>
    [throughputTable(throughput), engineText(engine), readTable(reads), knownTable(known), sizeTable(sizes)].join(
      "\n\n",
    ),
  page: reportPage,
});
