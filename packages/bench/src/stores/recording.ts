import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { sqliteStore } from "@qavr/sqlite";
import { Client } from "pg";
import { barePostgresInsert, bareSqliteInsert } from "./bare-insert.js";
import { outcomeWorkload } from "./outcome-workload.js";
import type { ThroughputCase } from "./throughput.js";

/** Memories that the outcomes of a client are about. */
export const RECORDED_MEMORIES = 10_000;
const BATCHES = [1, 10] as const;
const MANY = 8;

/** Stores that are opened for the cases, and closed after them. */
export interface Recording {
  readonly cases: readonly ThroughputCase[];
  close(): Promise<void>;
}

/** Every way of recording outcomes: SQLite and PostgreSQL, few and many at a time, beside bare inserts of the same bytes. */
export async function recording(folder: string, url: string): Promise<Recording> {
  const closers: (() => unknown)[] = [];
  const opened = <Closable extends { close(): unknown }>(one: Closable): Closable => {
    closers.push(() => one.close());
    return one;
  };
  const connected = async (): Promise<Client> => {
    const client = new Client(url);
    await client.connect();
    closers.push(() => client.end());
    return client;
  };
  const cases: ThroughputCase[] = [];

  const file = opened(new DatabaseSync(join(folder, "bare.db")));
  const bare = bareSqliteInsert(file);
  const sqlite = opened(sqliteStore(join(folder, "ledger.db")));
  for (const batch of BATCHES) {
    const floor = `SQLite, bare insert, ${batch} per transaction`;
    cases.push({ name: floor, clients: 1, batch, commit: async (_, size) => bare(size) });
    cases.push({
      name: batch === 1 ? "SQLite, one by one" : "SQLite, 10 per commit",
      floor,
      clients: 1,
      batch,
      commit: commits([sqlite], () => "n"),
    });
  }
  cases.push({
    name: "SQLite, 50 at once: group commit",
    floor: "SQLite, bare insert, 1 per transaction",
    clients: 50,
    batch: 1,
    commit: commits([sqlite], () => "n"),
  });

  for (const clients of [1, MANY]) {
    const connections = await Promise.all(Array.from({ length: clients }, connected));
    const inserts = await Promise.all(
      connections.map((client, place) => barePostgresInsert(client, `bare_${clients}_${place}`)),
    );
    const stores = connections.map(() => opened(postgresStore({ connectionString: url, maxConnections: 2 })));
    for (const batch of BATCHES) {
      const size = `${clients} × ${batch}`;
      const floor = `PostgreSQL, bare insert, ${size}`;
      cases.push({ name: floor, clients, batch, commit: async (place, rows) => inserts[place]?.(rows) });
      const own = clients === 1 ? "" : ", a namespace each";
      const commit = commits(stores, (place) => `own ${clients} ${place}`);
      cases.push({ name: `PostgreSQL, ${size}${own}`, floor, clients, batch, commit });
      if (clients === 1) continue;
      const shared = commits(stores, () => "shared");
      cases.push({
        name: `PostgreSQL, ${size}, one namespace from ${clients} handles`,
        floor,
        clients,
        batch,
        commit: shared,
      });
    }
  }
  const one = opened(postgresStore({ connectionString: url }));
  cases.push({
    name: "PostgreSQL, 50 at once in one process: group commit",
    floor: "PostgreSQL, bare insert, 1 × 1",
    clients: 50,
    batch: 1,
    commit: commits([one], () => "group"),
  });
  return {
    cases,
    async close() {
      for (const close of closers.reverse()) await close();
    },
  };
}

/** Commits of outcomes, each client through a handle and in a namespace. */
function commits(
  stores: readonly Store[],
  namespace: (client: number) => string,
): (client: number, batch: number) => Promise<unknown> {
  const workloads = new Map<number, ReturnType<typeof outcomeWorkload>>();
  return (client, batch) => {
    const known = workloads.get(client) ?? outcomeWorkload(`${keys++}`, RECORDED_MEMORIES, client);
    workloads.set(client, known);
    const store = stores[client % stores.length] as Store;
    return store.commit(namespace(client), known.entries(batch), known.reduce);
  };
}

/** Clients so far, over all cases: no two use the same keys. */
let keys = 0;
