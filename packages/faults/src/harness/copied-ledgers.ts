import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, type Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import type { PostgresServer } from "@qavr/postgres-server";
import { sqliteStore } from "@qavr/sqlite";
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
  /** To write its outcomes. */
  readonly writing: Spent;
  copy(name: string): Promise<Place>;
}

/** Time of some work, ms. */
export interface Spent {
  readonly clock: number;
  /** Of this process. Writers have processes of their own, and a database server too. */
  readonly cpu: number;
}

export function stopwatch(): () => Spent {
  const [started, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { clock: performance.now() - started, cpu: (user + system) / 1_000 };
  };
}

export interface Place {
  /** Path or URL, for a writer. */
  readonly location: string;
  open(): Store;
}

/** Records outcomes of long ago. Returns the time that took. */
async function seed(store: Store, outcomes: number): Promise<Spent> {
  const spent = stopwatch();
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
  return spent();
}

export const sqliteLedgers = (folder: string): Ledgers => ({
  name: "SQLite",
  async fill(outcomes) {
    const place = (name: string): Place => {
      const location = join(folder, `${name}-${outcomes}.db`);
      return { location, open: () => sqliteStore({ path: location, busyTimeout: 60_000 }) };
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

export const postgresLedgers = (server: PostgresServer): Ledgers => ({
  name: "PostgreSQL",
  async fill(outcomes) {
    const database = (name: string): string => `${name}_${outcomes}`;
    const create = (name: string, template: string): Promise<unknown> =>
      onServer(server.url(), (client) => client.query(`create database ${database(name)} template ${template}`));
    const place = (name: string): Place => {
      const location = server.url({ database: database(name) });
      return { location, open: () => postgresStore({ connectionString: location, lockTimeout: 60_000 }) };
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
