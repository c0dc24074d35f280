import type * as Sqlite from "node:sqlite";
import { QavrError } from "@qavr/core";

/** Node's built-in SQLite binding. */
export type SqliteModule = typeof Sqlite;

/**
 * Loads `node:sqlite` when the first store is opened. An import statement would break runtimes without it, and would print Node's
 * ExperimentalWarning on import.
 *
 * Suppresses the ExperimentalWarning that Node 22 prints while loading; every other warning passes.
 *
 * @param oldest the oldest Node that will do, for the message
 * @throws STORE_UNAVAILABLE on a runtime without `node:sqlite`
 */
export function loadSqlite(oldest: string = "22.13"): SqliteModule {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes("SQLite is an experimental feature"))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  let loaded: SqliteModule | undefined;
  try {
    loaded = process.getBuiltinModule?.("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
  if (!loaded) {
    throw new QavrError(
      "STORE_UNAVAILABLE",
      `Node ${process.version} has no node:sqlite. Use Node ${oldest} or newer.`,
      {
        details: { node: process.version },
      },
    );
  }
  return loaded;
}

/** The version of SQLite, from a database in memory: a query on a ledger would already read it. */
export function sqliteVersion({ DatabaseSync }: SqliteModule): string {
  const db = new DatabaseSync(":memory:");
  try {
    return String(db.prepare("SELECT sqlite_version() AS version").get()?.version);
  } finally {
    db.close();
  }
}

/**
 * First SQLite release whose WAL mode is safe with several connections. Before it, a checkpoint during another connection's reset of the
 * log could lose committed frames (the "WAL-reset" bug of 3.7.0 to 3.51.2).
 * Source: https://sqlite.org/releaselog/3_51_3.html
 */
const SAFE_SHARED_WAL: SqliteVersion = [3, 51, 3];

/** Major, minor and patch. */
export type SqliteVersion = readonly [major: number, minor: number, patch: number];

/** Reads `select sqlite_version()`; undefined for a text that is no version. */
export function parseSqliteVersion(text: string): SqliteVersion | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined;
}

/** True when several connections, in one or more processes, may use one WAL file. False for an unreadable version. */
export function allowsSharedWal(version: string): boolean {
  const parsed = parseSqliteVersion(version);
  if (!parsed) return false;
  for (const [place, safe] of SAFE_SHARED_WAL.entries()) {
    const part = parsed[place] as number;
    if (part !== safe) return part > safe;
  }
  return true;
}
