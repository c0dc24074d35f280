import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";

/** A reader that keeps reading from a ledger's log: a backup, a shell. */
export function readerOf(path: string): { stop(): void } {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec("BEGIN; SELECT count(*) FROM entry");
  onTestFinished(() => db.close());
  return { stop: () => db.exec("COMMIT") };
}

/** Lets happen what a store does to its log after a commit was answered. */
export function afterCommit(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
