import type * as Sqlite from "node:sqlite";
import { QavrError } from "@qavr/core";

/** Node's built-in SQLite binding. */
export type SqliteModule = typeof Sqlite;

/**
 * Loads `node:sqlite` when the first store is opened, not when this package is imported: an import statement would break
 * runtimes without it, and would print Node's ExperimentalWarning before any of our code could decide about it.
 *
 * Node 22 warns at the moment of loading. Whoever opens a store has chosen this binding, so that one warning is held back;
 * every other warning passes.
 *
 * @throws STORE_UNAVAILABLE on a runtime without `node:sqlite`.
 */
export function loadSqlite(): SqliteModule {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes("SQLite is an experimental feature"))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  let loaded: SqliteModule | undefined;
  try {
    loaded = process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
  if (!loaded) {
    throw new QavrError("STORE_UNAVAILABLE", `Node ${process.version} has no node:sqlite. Use Node 22.13 or newer.`, {
      details: { node: process.version },
    });
  }
  return loaded;
}

/** The version of the SQLite inside, asked of a database in memory: asking a ledger would already read it. */
export function sqliteVersion({ DatabaseSync }: SqliteModule): string {
  const db = new DatabaseSync(":memory:");
  try {
    return String(db.prepare("SELECT sqlite_version() AS version").get()?.version);
  } finally {
    db.close();
  }
}
