import type { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import { logKeeper } from "./log-keeper.js";
import { openDatabase, prepareTables } from "./open-database.js";
import type { FileFormat } from "./schema.js";
import { onFile, toStoreError } from "./sqlite-errors.js";
import { resolveSqliteOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { writeQueue } from "./write-queue.js";

/** An open SQLite file and the statements on it, for packages that keep data of their own beside a ledger. */
export interface SqliteFile<Tables> {
  /** Absolute, or `:memory:`. */
  readonly path: string;
  /** Runs reads on one state of the file. @throws STORE_CLOSED, STORE_CORRUPT, STORE_BUSY, STORE_FAILED */
  read<Result>(work: (tables: Tables) => Result): Result;
  /**
   * Runs writes in one transaction with the other calls of this tick; resolves once they are durable. `work` may throw before its
   * first write, which rejects this call alone; an error of SQLite rejects all calls of the transaction.
   *
   * @throws STORE_CLOSED, STORE_BUSY, STORE_UNWRITABLE, STORE_UNAVAILABLE, STORE_CORRUPT, STORE_FAILED
   */
  write<Result>(work: (tables: Tables) => Result): Promise<Result>;
  /** Moves the log to the file, so that the log keeps no removed rows; while another connection reads, tries again for `timeout` ms. */
  cutLog(timeout: number): Promise<void>;
  /** Closes the file after the calls that wait. */
  close(): Promise<void>;
}

/**
 * Opens or creates a file with the guarantees of a ledger: durable commits, a checked format, several processes.
 *
 * @param path relative to the working folder, or `:memory:`
 * @param prepare makes the statements
 * @throws STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE, STORE_FAILED
 */
export function openSqliteFile<Tables>(
  path: string,
  format: FileFormat,
  prepare: (db: DatabaseSync, path: string) => Tables,
): SqliteFile<Tables> {
  const resolved = resolveSqliteOptions(path);
  const opened = openDatabase(resolved, { format });
  const { db } = opened;
  const tables = prepareTables(db, resolved.path, () => prepare(db, resolved.path));
  const log = logKeeper(opened, resolved);
  const queue = writeQueue<undefined>(db, resolved, {
    prepare: log.look,
    begin: () => undefined,
    write: () => undefined,
    committed: log.committed,
    abandoned: () => undefined,
  });
  let closing: Promise<void> | undefined;
  const enter = (): void => {
    if (!closing) return;
    throw new QavrError(
      "STORE_CLOSED",
      `The ${format.what} ${resolved.path} was closed before this call. Open it again.`,
    );
  };
  return {
    path: resolved.path,
    read(work) {
      enter();
      try {
        return inSnapshot(db, () => work(tables));
      } catch (error) {
        throw toStoreError(error, resolved.path);
      }
    },
    async write(work) {
      enter();
      return queue.together(() => onFile(() => work(tables)));
    },
    cutLog: log.cut,
    close() {
      closing ??= queue.drained().then(() => {
        log.close();
        db.close();
      });
      return closing;
    },
  };
}
