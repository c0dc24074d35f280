import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { QavrError } from "@qavr/core";
import { frozenFile, logLeftBeside, type OpenFiles, openFiles } from "./ledger-files.js";
import { createDurableFolder } from "./ledger-folder.js";
import { type FileFormat, type FileKind, inspect, LEDGER, migrate } from "./schema.js";
import { isBusy, isUnwritable, toStoreError } from "./sqlite-errors.js";
import { loadSqlite, type SqliteModule, sqliteVersion } from "./sqlite-module.js";
import type { ResolvedOptions } from "./sqlite-options.js";
import { allowsSharedWal } from "./sqlite-version.js";
import { inSnapshot } from "./transaction.js";

/** How to open a file. */
export interface OpenOptions {
  /** @default a ledger */
  readonly format?: FileFormat;
  /** Whether several connections are safe with this SQLite. @default from its version */
  readonly sharable?: boolean;
}

/** A connection whose file is known to be of its format and newest schema. */
export interface OpenedDatabase {
  readonly db: DatabaseSync;
  /** False: this connection keeps the file locked for itself. */
  readonly shared: boolean;
  /** Undefined in memory, and for reading only. */
  readonly files: OpenFiles | undefined;
  /** For a file that is read without locks: refuses its use when it is written to. @throws STORE_UNAVAILABLE */
  assertFrozen?(): void;
}

/** Log beyond this is cut off after a checkpoint, in bytes. A long reader can make it grow past it. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;
/** One page of the smallest size, in bytes. */
const SMALLEST_DATABASE = 512;
/** SQLite's own page cache, in KiB: the indexes' upper levels; hot states have a cache of their own. */
const PAGE_CACHE_KIB = 8 * 1024;

/**
 * Opens the file, looks at it before anything is written, and brings it to the newest schema.
 *
 * Where several connections are not safe, the file is locked for this one alone until it is closed.
 *
 * @throws STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE, STORE_FAILED
 */
export function openDatabase(
  options: ResolvedOptions,
  { format = LEDGER, sharable }: OpenOptions = {},
): OpenedDatabase {
  const sqlite = loadSqlite();
  if (!options.inMemory) assertUsable(options);
  const version = sqliteVersion(sqlite);
  const shared = !options.inMemory && (sharable ?? allowsSharedWal(version));
  let db: DatabaseSync | undefined;
  try {
    db = new sqlite.DatabaseSync(options.path, { readOnly: options.readOnly });
    const connection = db;
    retryWhileBusy(options.busyTimeout, () => prepare(connection, shared, options, format));
    return { db, shared, files: options.inMemory || options.readOnly ? undefined : openFiles(options.path) };
  } catch (error) {
    db?.close();
    const frozen = openFrozen(sqlite, options, format, error);
    if (frozen) return { ...frozen, shared, files: undefined };
    throw isBusy(error) && !shared ? notSharable(options.path, version, error) : toStoreError(error, options.path);
  }
}

/**
 * A ledger that was closed has no log, and SQLite wants to make one even to read it. Where it cannot, on a read-only volume or in
 * somebody else's folder, it can be told that nobody writes.
 *
 * @returns undefined when that is not what `failure` is about, or does not help
 */
function openFrozen(
  { DatabaseSync }: SqliteModule,
  { path, readOnly }: ResolvedOptions,
  format: FileFormat,
  failure: unknown,
): Required<Pick<OpenedDatabase, "db" | "assertFrozen">> | undefined {
  if (!readOnly || !isUnwritable(failure)) return undefined;
  const assertFrozen = frozenFile(path);
  let db: DatabaseSync | undefined;
  try {
    // Before Node 22.15 a URI is not understood: then this fails as well.
    db = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly });
    const connection = db;
    if (inSnapshot(connection, () => inspect(connection, path, format)) !== "current") throw failure;
    // Also where there is a log: what it holds would be missing.
    assertFrozen();
    return { db, assertFrozen };
  } catch {
    db?.close();
    return undefined;
  }
}

function prepare(db: DatabaseSync, shared: boolean, options: ResolvedOptions, format: FileFormat): void {
  const { path, inMemory, readOnly, synchronous, busyTimeout } = options;
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyTimeout)}`);
  // Before the file is read for the first time: afterwards it would not lock others out until the first write.
  if (!shared && !inMemory) db.exec("PRAGMA locking_mode = EXCLUSIVE");
  // At one moment: between two looks another process may create the ledger.
  const kind = inSnapshot(db, () => inspect(db, path, format));
  if (readOnly) {
    if (kind !== "current") throw notReadable(path, kind);
    return;
  }
  // FULL syncs the log at each commit; fullfsync makes that sync reach the disk on macOS and means nothing elsewhere.
  db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA fullfsync = ${synchronous === "full" ? "ON" : "OFF"}`);
  // Overwrites what is deleted: erasing a namespace is a promise. Measured: no difference in speed on values of 1 to 6 KB.
  db.exec("PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  db.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}; PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  if (!inMemory) useWriteAheadLog(db, path);
  if (kind !== "current") migrate(db, path, format);
}

function useWriteAheadLog(db: DatabaseSync, path: string): void {
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode === "wal") return;
  throw new QavrError(
    "STORE_UNWRITABLE",
    `The file system of ${path} cannot keep a write-ahead log (SQLite fell back to ${mode}). Choose a local disk.`,
    { details: { path, journalMode: String(mode) } },
  );
}

/**
 * Prepares the statements on a file that was opened, which is closed where that fails.
 *
 * @throws STORE_CORRUPT: the header says what the file is, so a table that is missing is damage
 */
export function prepareTables<Tables>(db: DatabaseSync, path: string, prepare: () => Tables): Tables {
  try {
    return prepare();
  } catch (cause) {
    db.close();
    if (isBusy(cause)) throw toStoreError(cause, path);
    throw new QavrError(
      "STORE_CORRUPT",
      `The file ${path} lacks a table. Move it away with its -wal and -shm, and restore a backup, or choose another path.`,
      { details: { path }, cause },
    );
  }
}

/** What the file system can tell before SQLite touches the path, so that the refusal names what is wrong. */
function assertUsable({ path, readOnly }: ResolvedOptions): void {
  const kind = kindOf(path);
  if (kind === "folder") throw unwritable(path, "is a folder", "Name a file in it, such as ledger.db.");
  if (kind === "stub") {
    throw new QavrError(
      "STORE_CORRUPT",
      `The file ${path} is too short for a database: it was cut off. Move it away with its -wal and -shm, and restore a backup.`,
      { details: { path } },
    );
  }
  if (readOnly) {
    // SQLite would delete the log beside an empty file even when it only reads.
    if (holdsNothing(kind)) throw notReadable(path, "new");
    return;
  }
  const log = holdsNothing(kind) ? logLeftBeside(path) : undefined;
  // Looked at again: another process may have made the ledger meanwhile, and then the log is its.
  if (log !== undefined && holdsNothing(kindOf(path))) throw logWithoutLedger(path, log);
  try {
    createDurableFolder(dirname(path));
    // SQLite opens an unwritable file for reading and would fail at the first commit only; its log needs the folder.
    if (kind !== "missing") accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
  } catch (cause) {
    throw unwritable(path, "cannot be written", "Check the permissions of the file and its folder.", cause);
  }
}

/** `stub`: SQLite would take what is shorter than any database for an empty one, and write over it. */
type PathKind = "file" | "folder" | "stub" | "empty" | "missing";

function kindOf(path: string): PathKind {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return "folder";
    if (!found.isFile() || found.size >= SMALLEST_DATABASE) return "file";
    return found.size === 0 ? "empty" : "stub";
  } catch {
    // Whatever keeps it from being seen also keeps it from being created, with a better error.
    return "missing";
  }
}

/** SQLite makes a new ledger there. */
function holdsNothing(kind: PathKind): boolean {
  return kind === "missing" || kind === "empty";
}

function unwritable(path: string, reason: string, advice: string, cause?: unknown): QavrError {
  return new QavrError("STORE_UNWRITABLE", `The file ${path} ${reason}. ${advice}`, { details: { path }, cause });
}

/** SQLite would delete the log, and with it what was acknowledged and had not reached the file yet. */
function logWithoutLedger(path: string, log: string): QavrError {
  return new QavrError(
    "STORE_UNWRITABLE",
    `There is nothing in ${path}, but an earlier file has left ${log}, which holds outcomes. Move it to where that file went, or choose a new path.`,
    { details: { path, left: [log] } },
  );
}

function notSharable(path: string, version: string, cause: unknown): QavrError {
  return new QavrError(
    "STORE_BUSY",
    `The file ${path} is open elsewhere, and SQLite ${version} of this Node cannot share one safely. Close it there, or use a Node with SQLite 3.51.3 or newer.`,
    { details: { path, sqlite: version }, cause },
  );
}

function notReadable(path: string, kind: FileKind): QavrError {
  const reason = kind === "older" ? "has an older schema" : "does not exist yet";
  return new QavrError(
    "STORE_UNAVAILABLE",
    `The ledger ${path} ${reason}, and it was to be opened for reading only. Open it once for writing.`,
    { details: { path } },
  );
}

/**
 * Repeats while another process holds the file. SQLite's own busy timeout does not cover every step of opening: the change to
 * WAL mode and the recovery of a log fail at once when two processes meet there.
 */
function retryWhileBusy(timeout: number, attempt: () => void): void {
  const deadline = performance.now() + timeout;
  for (;;) {
    try {
      attempt();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
