import type { DatabaseSync } from "node:sqlite";

/** Ends a failed transaction. SQLite ends some by itself (a full disk, an I/O error); then there is nothing to roll back. */
export function rollBack(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite had ended the transaction.
  }
}

/** Runs several reads on one state of the file; commits of other connections become visible afterwards. */
export function inSnapshot<Result>(db: DatabaseSync, read: () => Result): Result {
  db.exec("BEGIN");
  try {
    return read();
  } finally {
    endSnapshot(db);
  }
}

/** Ends a read transaction. After damage COMMIT fails; the results of the reads are still valid. */
function endSnapshot(db: DatabaseSync): void {
  try {
    db.exec("COMMIT");
  } catch {
    rollBack(db);
  }
}

/** Runs a statement that fails at once instead of waiting for another connection. */
export function withoutWaiting(db: DatabaseSync, busyTimeout: number, statement: string): void {
  waitingAtMost(db, 0, busyTimeout, () => db.exec(statement));
}

/** Runs `work` with another busy timeout, in ms; afterwards restores the connection's own. */
export function waitingAtMost<Result>(
  db: DatabaseSync,
  milliseconds: number,
  busyTimeout: number,
  work: () => Result,
): Result {
  db.exec(`PRAGMA busy_timeout = ${milliseconds}`);
  try {
    return work();
  } finally {
    db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyTimeout)}`);
  }
}
