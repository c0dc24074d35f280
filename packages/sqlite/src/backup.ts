import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type LedgerCheck, QavrError } from "@qavr/core";
import { checkpointTables } from "./checkpoint-tables.js";
import { createDurableFolder, syncFolder } from "./ledger-folder.js";
import { ledgerTables } from "./ledger-tables.js";
import { openDatabase } from "./open-database.js";
import { toStoreError } from "./sqlite-errors.js";
import { resolveOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { verifyLedger } from "./verify-ledger.js";

/** A copy of a ledger that was read back and found whole. */
export interface BackupReport extends LedgerCheck {
  /** Absolute path of the copy. */
  readonly path: string;
}

/**
 * Copies what a connection sees at one moment to a new file, syncs it, and gives it its name last: a copy that was interrupted is
 * never found under it. Then reads it back.
 *
 * @throws STORE_UNWRITABLE when there is a file already, or none can be made; STORE_CORRUPT when the copy is damaged
 */
export function copyLedger(db: DatabaseSync, to: string): BackupReport {
  const path = resolve(to);
  if (existsSync(path)) {
    throw new QavrError(
      "STORE_UNWRITABLE",
      `There is a file ${path} already. Choose a new path: nothing is overwritten.`,
      { details: { path } },
    );
  }
  const unfinished = `${path}.unfinished`;
  try {
    createDurableFolder(dirname(path));
    rmSync(unfinished, { force: true });
    // One read transaction: other connections go on writing, and the copy has none of it.
    db.prepare("VACUUM INTO ?").run(unfinished);
    syncFile(unfinished);
    renameSync(unfinished, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw toStoreError(error, path);
  }
  return verifiedFile(path);
}

/**
 * Makes a ledger from a backup at a new path. Both are verified, the backup before and the copy after; the backup stays as it is.
 * Never onto an existing file: close the engine, move the old ledger away, restore, open.
 *
 * @throws STORE_CORRUPT for a damaged backup, STORE_UNWRITABLE, STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_UNAVAILABLE
 */
export async function restoreBackup(from: string, to: string): Promise<BackupReport> {
  verifiedFile(from);
  const { db } = openDatabase(resolveOptions({ path: from, readOnly: true }));
  try {
    return copyLedger(db, to);
  } finally {
    db.close();
  }
}

/** @throws STORE_CORRUPT for a file that is not whole, and what opening throws */
function verifiedFile(file: string): BackupReport {
  const options = resolveOptions({ path: file, readOnly: true });
  const { path } = options;
  const { db } = openDatabase(options);
  try {
    const checkpoints = checkpointTables(db, path, ledgerTables(db, path));
    const check = inSnapshot(db, () => verifyLedger(db, checkpoints));
    if (check.damaged === 0) return { ...check, path };
    throw new QavrError(
      "STORE_CORRUPT",
      `The ledger ${path} is damaged in ${check.damaged} places, first: ${check.damage[0]?.problem}. Use another backup.`,
      { details: { path, damaged: check.damaged } },
    );
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    db.close();
  }
}

/** SQLite does not sync a file that it has made by VACUUM INTO. */
function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
