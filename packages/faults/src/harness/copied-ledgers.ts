import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, type Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import type { PostgresServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
import type { Client } from "pg";
import { onServer } from "./database.js";
import { endSteadyRun, rankSteadyRun } from "./steady-runs.js";

/** Runs at a time while a ledger is written. */
export const TOGETHER: number = 50;
/** Longer ago than outcomes are accepted, so that a compaction drops all of it. ms */
export const AGO: number = 90 * 86_400_000;

/** Ledgers of one kind. */
export interface Ledgers {
  readonly name: string;
  /** Makes a ledger of so many outcomes. */
  fill(outcomes: number): Promise<Original>;
}

export interface Original {
  /** Time that its outcomes took to write, ms. */
  readonly writing: number;
  copy(name: string): Promise<Place>;
}

export interface Place {
  /** Path or URL, for a writer. */
  readonly location: string;
  open(): Store;
  /** Processes of a database server that work for its clients. */
  sessions(): Promise<readonly number[]>;
}

/** Records outcomes of long ago. Returns the time that took, ms. */
async function seed(store: Store, outcomes: number): Promise<number> {
  const started = performance.now();
  let clock = Date.now() - AGO;
  const engine = createEngine({ store, clock: () => (clock += 1) });
  for (let run = 0; run < outcomes; run += TOGETHER) {
    await Promise.all(
      Array.from({ length: Math.min(TOGETHER, outcomes - run) }, async (_, i) =>
        endSteadyRun(engine, await rankSteadyRun(engine, "seed", run + i), run + i),
      ),
    );
  }
  await engine.close();
  return performance.now() - started;
}

export const sqliteLedgers = (folder: string): Ledgers => ({
  name: "SQLite",
  async fill(outcomes) {
    const place = (name: string): Place => {
      const location = join(folder, `${name}-${outcomes}.db`);
      return { location, open: () => sqliteStore({ path: location, busyTimeout: 60_000 }), sessions: async () => [] };
    };
    const original = place("original");
    const writing = await seed(original.open(), outcomes);
    return {
      writing,
      async copy(name) {
        const copied = place(name);
        copyFileSync(original.location, copied.location);
        return copied;
      },
    };
  },
});

async function sessionsOf(client: Client, database: string): Promise<readonly number[]> {
  const { rows } = await client.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
    [database],
  );
  return rows.map(({ pid }) => pid);
}

export const postgresLedgers = (server: PostgresServer): Ledgers => ({
  name: "PostgreSQL",
  async fill(outcomes) {
    const database = (name: string): string => `${name}_${outcomes}`;
    const create = (name: string, template: string): Promise<unknown> =>
      onServer(server.url(), (client) => client.query(`create database ${database(name)} template ${template}`));
    const place = (name: string): Place => {
      const location = server.url({ database: database(name) });
      return {
        location,
        open: () => postgresStore({ connectionString: location, lockTimeout: 60_000 }),
        sessions: () => onServer(server.url(), (client) => sessionsOf(client, database(name))),
      };
    };
    await create("original", "template1");
    const writing = await seed(place("original").open(), outcomes);
    return {
      writing,
      async copy(name) {
        await create(name, database("original"));
        return place(name);
      },
    };
  },
});
