import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type LedgerCheck, QavrError } from "@qavr/core";
import { checkpointTables } from "./checkpoint-tables.js";
import { leftBeside } from "./ledger-files.js";
import { createDurableFolder, syncFolder } from "./ledger-folder.js";
import { ledgerTables } from "./ledger-tables.js";
import { openDatabase } from "./open-database.js";
import { toStoreError } from "./sqlite-errors.js";
import { assertCopyName, resolveOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { verifyLedger } from "./verify-ledger.js";

/** A copy of a ledger that was read back and found whole. */
export interface BackupReport extends LedgerCheck {
  /** Absolute path of the copy. */
  readonly path: string;
}

const UNFINISHED = ".unfinished";
/** A copy that nobody has written to for this long was interrupted, in ms: a day, many times what the largest takes. */
const INTERRUPTED_AFTER = 24 * 3_600_000;

/**
 * Copies what a connection sees at one moment to a new file, syncs it, reads it back, and gives it its name last: what is found
 * under it is whole, also when the copy was interrupted or what it copied is damaged.
 *
 * @param digest of what is to be copied, where that is known
 * @throws INVALID_ARGUMENT for what names no file; STORE_UNWRITABLE when there is a file already, or none can be made; STORE_CORRUPT when
 *   the copy is damaged; STORE_FAILED when it is not what was to be copied
 */
export function copyLedger(db: DatabaseSync, to: string, digest?: string): BackupReport {
  assertCopyName(to);
  const path = resolve(to);
  assertFree(path);
  // Of this call alone: another process may be copying to the same name.
  const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
  try {
    createDurableFolder(dirname(path));
    removeInterrupted(path);
    // One read transaction: other connections go on writing, and the copy has none of it.
    db.prepare("VACUUM INTO ?").run(unfinished);
    syncFile(unfinished);
    const report = withReadOnly(unfinished, (copy) => verified(copy, path));
    if (digest !== undefined && report.digest !== digest) throw changedMeanwhile(path);
    assertFree(path);
    giveName(unfinished, path);
    syncFolder(dirname(path));
    return report;
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Makes a ledger from a backup at a new path. Both are verified and must have one digest; the backup stays as it is. Never onto an
 * existing file, nor beside a log that an earlier one has left: close the engine, move the old ledger away with its `-wal` and
 * `-shm`, restore, open.
 *
 * @throws INVALID_ARGUMENT for what names no file, STORE_CORRUPT for a damaged backup, STORE_UNWRITABLE, STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_UNAVAILABLE, STORE_FAILED
 */
export async function restoreBackup(from: string, to: string): Promise<BackupReport> {
  assertCopyName(to);
  return withReadOnly(from, (db) => copyLedger(db, to, verified(db, resolve(from)).digest));
}

/** @throws what opening throws */
function withReadOnly<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  const { db } = openDatabase(resolveOptions({ path: file, readOnly: true }));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/**
 * @param path what the file is called in the report and in messages
 * @throws STORE_CORRUPT for a file that is not whole
 */
function verified(db: DatabaseSync, path: string): BackupReport {
  try {
    const checkpoints = checkpointTables(db, path, ledgerTables(db, path));
    const check = inSnapshot(db, () => verifyLedger(db, checkpoints));
    if (check.damaged === 0) return { ...check, path };
    throw new QavrError(
      "STORE_CORRUPT",
      `What was read for ${path} is damaged in ${check.damaged} places, first: ${check.damage[0]?.problem}. Use another backup.`,
      { details: { path, damaged: check.damaged } },
    );
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** @throws STORE_UNWRITABLE when there is something under this name, or beside it what SQLite would take for its own */
function assertFree(path: string): void {
  if (existsSync(path)) throw taken(path);
  const left = leftBeside(path);
  if (left.length === 0) return;
  throw new QavrError(
    "STORE_UNWRITABLE",
    `An earlier ledger has left ${left.join(" and ")}. What it holds would be played into a new ${path}: close what has it open and move it to where ${basename(path)} went, or choose a new path.`,
    { details: { path, left } },
  );
}

function taken(path: string): QavrError {
  return new QavrError(
    "STORE_UNWRITABLE",
    `There is a file ${path} already. Choose a new path: nothing is overwritten.`,
    { details: { path } },
  );
}

function changedMeanwhile(path: string): QavrError {
  return new QavrError(
    "STORE_FAILED",
    `What was to be copied to ${path} changed meanwhile. Close what writes to it, or use its own backup(), and try again.`,
    { details: { path } },
  );
}

/** @throws STORE_UNWRITABLE when somebody was faster: a link, unlike a new name, never replaces a file. */
function giveName(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw taken(path);
    // A file system without links, such as FAT.
    renameSync(unfinished, path);
  }
}

/** Clears away what earlier copies to this name have left when their process ended. */
function removeInterrupted(path: string): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}.`];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || !name.endsWith(UNFINISHED)) continue;
    const file = join(folder, name);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() && found.mtimeMs < Date.now() - INTERRUPTED_AFTER) rmSync(file, { force: true });
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
