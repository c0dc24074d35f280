import { randomUUID } from "node:crypto";
import { closeSync, existsSync, linkSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import type { LedgerCheck } from "@qavr/core/store";
import { checkpointTables } from "./checkpoint-tables.js";
import { COMPANIONS, createDurableFolder, leftBeside, MARK, syncFolder, syncOpen } from "./ledger-files.js";
import { ledgerTables } from "./ledger-tables.js";
import { openDatabase } from "./open-database.js";
import { toStoreError } from "./sqlite-errors.js";
import { assertCopyName, resolveSqliteOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { verifyLedger } from "./verify-ledger.js";

/** A copy of a ledger that was read back and verified. */
export interface BackupReport extends LedgerCheck {
  /** Absolute path of the copy. */
  readonly path: string;
}

const UNFINISHED = ".unfinished";
/** The end of the name of an unfinished copy, and of the files beside one that is written entry by entry. */
const UNFINISHED_ENDS = ["", ...COMPANIONS, MARK].map((suffix) => UNFINISHED + suffix);
/** A copy without a write for this long was interrupted, in ms: a day, many times the duration of the largest copy. */
const INTERRUPTED_AFTER = 24 * 3_600_000;

/**
 * Copies the ledger as a connection sees it at one moment to a new file. Syncs the copy, verifies it, and names it last: a file with
 * that name is whole even if the copy is interrupted or its source is damaged.
 *
 * @param digest of the source, if it is known
 * @throws INVALID_ARGUMENT for a path that names no file; STORE_UNWRITABLE when the file exists or cannot be made; STORE_CORRUPT when the
 *   copy is damaged; STORE_FAILED when it differs from its source
 */
export function copyLedger(db: DatabaseSync, to: string, digest?: string): BackupReport {
  assertCopyName(to);
  const path = resolve(to);
  assertFree(path);
  // Unique, since another process may copy to the same name.
  const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
  const source = fileOf(db);
  try {
    createDurableFolder(dirname(path));
    removeInterrupted(path);
    try {
      takePermissions(source, unfinished);
      // One read transaction: writes of other connections continue and are not in the copy.
      db.prepare("VACUUM INTO ?").run(unfinished);
      syncFile(unfinished);
      // Damage of the copy is that of its source.
      const report = { ...withReadOnly(unfinished, (copy) => verified(copy, source)), path };
      if (digest !== undefined && report.digest !== digest) throw changedMeanwhile(path);
      assertFree(path);
      // Of a ledger that was moved away. It says nothing about this one.
      rmSync(path + MARK, { force: true });
      giveName(unfinished, path);
      syncFolder(dirname(path));
      return report;
    } finally {
      // SQLite leaves a journal beside a copy for which the disk has no room.
      for (const file of [unfinished, ...leftBeside(unfinished)]) rmSync(file, { force: true });
    }
  } catch (error) {
    const failure = toStoreError(error, path);
    throw failure.code === "STORE_CORRUPT" ? toStoreError(error, source) : failure;
  }
}

/**
 * Makes a ledger from a backup at a new path. Both are verified and must have the same digest; the backup is not changed. Refuses an
 * existing file and the log of an earlier one: close the engine, move the old ledger away with its `-wal`, `-shm` and `-mark`, restore,
 * open.
 *
 * @throws INVALID_ARGUMENT for a path that names no file, STORE_CORRUPT for a damaged backup, STORE_UNWRITABLE, STORE_FOREIGN, STORE_NEWER_SCHEMA, STORE_UNAVAILABLE, STORE_FAILED
 */
export async function restoreBackup(from: string, to: string): Promise<BackupReport> {
  assertCopyName(to);
  const { path } = resolveSqliteOptions({ path: from, readOnly: true });
  if (!statSync(path, { throwIfNoEntry: false })?.size) throw noBackup(path);
  return withReadOnly(path, (db) => copyLedger(db, to, verified(db, path).digest));
}

/** @throws the errors of opening */
function withReadOnly<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  const { db } = openDatabase(resolveSqliteOptions({ path: file, readOnly: true }));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/**
 * @param path of the ledger, for messages
 * @throws STORE_CORRUPT for a damaged file
 */
function verified(db: DatabaseSync, path: string): LedgerCheck {
  try {
    const checkpoints = checkpointTables(db, ledgerTables(db, path));
    const check = inSnapshot(db, () => verifyLedger(db, checkpoints, {}));
    if (check.damaged === 0) return check;
    throw new QavrError(
      "STORE_CORRUPT",
      `The ledger ${path} is damaged in ${check.damaged} places, first: ${check.damage[0]?.problem}. Use a backup that is whole.`,
      { details: { path, damaged: check.damaged } },
    );
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** @throws STORE_UNWRITABLE when the file exists, or files beside it that SQLite would take for its own */
function assertFree(path: string): void {
  if (existsSync(path)) throw taken(path);
  const left = leftBeside(path);
  if (left.length === 0) return;
  throw new QavrError(
    "STORE_UNWRITABLE",
    `An earlier ledger has left ${left.join(" and ")}, which SQLite would apply to a new ${path}. Close the programs that have it open and move it to where ${basename(path)} went, or choose a new path.`,
    { details: { path, left } },
  );
}

function noBackup(path: string): QavrError {
  return new QavrError(
    "STORE_UNAVAILABLE",
    `There is no backup ${path}: the file is missing or empty. Name a file that a backup made.`,
    { details: { path } },
  );
}

function taken(path: string): QavrError {
  return new QavrError(
    "STORE_UNWRITABLE",
    `The file ${path} exists already. Choose a new path: nothing is overwritten.`,
    { details: { path } },
  );
}

function changedMeanwhile(path: string): QavrError {
  return new QavrError(
    "STORE_FAILED",
    `The source of the copy ${path} changed during the copy. Close its writers, or use its own backup(), and try again.`,
    { details: { path } },
  );
}

/** Names the copy. A link, unlike a new name, never replaces a file. @throws STORE_UNWRITABLE when the name was taken meanwhile */
function giveName(unfinished: string, path: string): void {
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw taken(path);
    // A file system without links, such as FAT.
    renameSync(unfinished, path);
  }
}

/** Removes interrupted copies to this name. */
function removeInterrupted(path: string): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}.`];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || !UNFINISHED_ENDS.some((end) => name.endsWith(end))) continue;
    const file = join(folder, name);
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() && found.mtimeMs < Date.now() - INTERRUPTED_AFTER) rmSync(file, { force: true });
  }
}

/** The file of a connection; empty for a ledger in memory. */
function fileOf(db: DatabaseSync): string {
  return db.prepare("PRAGMA database_list").get()?.file as string;
}

/** Makes the empty file of a copy before SQLite would, which gives it to all that may read a new file: a ledger may be kept from them. */
function takePermissions(file: string, copy: string): void {
  try {
    closeSync(openSync(copy, "wx", (statSync(file).mode & 0o777) | 0o600));
  } catch {
    // A ledger in memory has no file. SQLite meets any other obstacle, too, and names it.
  }
}

/** Syncs a file, since SQLite does not sync the result of VACUUM INTO. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    syncOpen(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
