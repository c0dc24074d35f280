import type { DatabaseSync } from "node:sqlite";

/** Ends a transaction that failed. SQLite ends some by itself (a full disk, an I/O error) and then has nothing to roll back. */
export function rollBack(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // There was no transaction any more.
  }
}

/** Runs several reads on one state of the file: commits of other connections become visible after it only. */
export function inSnapshot<Result>(db: DatabaseSync, read: () => Result): Result {
  db.exec("BEGIN");
  try {
    return read();
  } finally {
    endSnapshot(db);
  }
}

/** There is nothing to keep: where the reads have met damage a COMMIT fails, and what they have found stands all the same. */
function endSnapshot(db: DatabaseSync): void {
  try {
    db.exec("COMMIT");
  } catch {
    rollBack(db);
  }
}

/** Runs a statement that fails at once where it would have to wait for another connection; reads keep the connection's own timeout. */
export function withoutWaiting(db: DatabaseSync, busyTimeout: number, statement: string): void {
  waitingAtMost(db, 0, busyTimeout, () => db.exec(statement));
}

/** Runs what waits for other connections no longer than `milliseconds`, asleep; afterwards the connection has its own timeout again. */
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
