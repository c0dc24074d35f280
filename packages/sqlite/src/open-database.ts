import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { QavrError } from "@qavr/core";
import { commitsLost, type Marked } from "./high-water-mark.js";
import {
  createDurableFolder,
  frozenFile,
  logLeftBeside,
  type OpenFiles,
  openFiles,
  RESTORE,
  sameFile,
} from "./ledger-files.js";
import type { MarkedEnd } from "./ledger-tables.js";
import { assertWholeLog } from "./log-check.js";
import { type FileFormat, type FileKind, inspect, LEDGER, migrate } from "./schema.js";
import { isBusy, isMissingTable, isUnwritable, toStoreError } from "./sqlite-errors.js";
import { allowsSharedWal, loadSqlite, type SqliteModule, sqliteVersion } from "./sqlite-module.js";
import type { ResolvedOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";

/** How to open a file. */
export interface OpenOptions {
  /** @default a ledger */
  readonly format?: FileFormat;
  /** True when several connections are safe with this SQLite. @default from its version */
  readonly sharable?: boolean;
  /** The mark beside the file. @default none is kept */
  readonly marked?: Marked;
}

/** A connection to a file of the right format and the newest schema. */
export interface OpenedDatabase {
  readonly db: DatabaseSync;
  /** False: this connection keeps the file locked. */
  readonly shared: boolean;
  /** Undefined in memory, and for reading only. */
  readonly files: OpenFiles | undefined;
  /** True for a file that was missing or empty before. */
  readonly isNew: boolean;
  /** For reading only: checks that the file is the one that was opened and, without locks, unchanged. @throws STORE_UNAVAILABLE */
  assertSame?(): void;
}

/** Size to which a checkpoint truncates the log, in bytes. A long read can make the log grow past it. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;
/** One page of the smallest size, in bytes. */
const SMALLEST_DATABASE = 512;
/** SQLite's own page cache, in KiB: the indexes' upper levels; hot states have a cache of their own. */
const PAGE_CACHE_KIB = 8 * 1024;

/**
 * Opens the file, inspects it before anything is written, and brings it to the newest schema.
 *
 * If several connections are not safe, one that writes locks the file until it is closed.
 *
 * @throws STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE, STORE_FAILED
 */
export function openDatabase(
  options: ResolvedOptions,
  { format = LEDGER, sharable, marked }: OpenOptions = {},
): OpenedDatabase {
  const sqlite = loadSqlite();
  const isMissing = options.inMemory || !existsSync(options.path);
  if (!options.inMemory) {
    assertUsable(options, marked?.last);
    if (!marked?.unsynced) assertWholeLog(options.path);
  }
  const version = sqliteVersion(sqlite);
  const safe = sharable ?? allowsSharedWal(version);
  // Reading neither starts the log anew nor checkpoints, and a lock for writing is refused on a file that is open for reading.
  const shared = !options.inMemory && (safe || options.readOnly);
  let db: DatabaseSync | undefined;
  try {
    db = new sqlite.DatabaseSync(options.path, { readOnly: options.readOnly });
    const connection = db;
    let isNew = false;
    retryWhileBusy(options.busyTimeout, () => {
      // A file that was removed on purpose may begin anew; one that holds nothing any more has lost its log.
      isNew = prepare(connection, shared, options, format, isMissing ? undefined : marked?.last);
    });
    if (options.readOnly) return { db, shared, isNew, files: undefined, assertSame: sameFile(options.path) };
    return { db, shared, isNew, files: options.inMemory ? undefined : openFiles(options.path) };
  } catch (error) {
    db?.close();
    const frozen = openFrozen(sqlite, options, format, error);
    if (frozen) return { ...frozen, shared, isNew: false, files: undefined };
    throw isBusy(error) && !safe ? notSharable(options.path, version, error) : toStoreError(error, options.path);
  }
}

/**
 * Opens a closed ledger as immutable. SQLite makes a log even for reading, which fails on a read-only volume or in a folder of another
 * user.
 *
 * @returns undefined when `failure` has another cause, or the file cannot be read this way either
 */
function openFrozen(
  { DatabaseSync }: SqliteModule,
  { path, readOnly }: ResolvedOptions,
  format: FileFormat,
  failure: unknown,
): Required<Pick<OpenedDatabase, "db" | "assertSame">> | undefined {
  if (!readOnly || !isUnwritable(failure)) return undefined;
  const assertSame = frozenFile(path);
  let db: DatabaseSync | undefined;
  try {
    // Node before 22.15 does not understand a URI; then this fails as well.
    db = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly });
    const connection = db;
    if (inSnapshot(connection, () => inspect(connection, path, format)) !== "current") throw failure;
    // Refuses a log, whose commits would be missing.
    assertSame();
    return { db, assertSame };
  } catch {
    db?.close();
    return undefined;
  }
}

/** Returns true for a new file. */
function prepare(
  db: DatabaseSync,
  shared: boolean,
  options: ResolvedOptions,
  format: FileFormat,
  marked: MarkedEnd | undefined,
): boolean {
  const { path, inMemory, readOnly, synchronous, busyTimeout } = options;
  db.exec(`PRAGMA busy_timeout = ${Math.ceil(busyTimeout)}`);
  // Before the first read: later, it would lock others out only from the first write on.
  if (!shared && !inMemory) db.exec("PRAGMA locking_mode = EXCLUSIVE");
  // In one transaction, since another process may create the ledger meanwhile.
  const kind = inSnapshot(db, () => inspect(db, path, format));
  if (kind === "new" && marked) throw commitsLost(path, marked, 0);
  if (readOnly) {
    if (kind !== "current") throw notReadable(path, kind);
    return false;
  }
  // FULL syncs the log at each commit; fullfsync makes that sync reach the disk on macOS and has no effect elsewhere.
  db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA fullfsync = ${synchronous === "full" ? "ON" : "OFF"}`);
  // Overwrites deleted data: erasing a namespace is a promise. Measured: no difference in speed on values of 1 to 6 KB.
  db.exec("PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  db.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}; PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  if (!inMemory) useWriteAheadLog(db, path);
  if (kind !== "current") migrate(db, path, format);
  return kind === "new";
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
 * Prepares the statements on an opened file; closes the file on failure.
 *
 * @throws STORE_CORRUPT: the header names the format, so a missing table is damage
 */
export function prepareTables<Tables>(db: DatabaseSync, path: string, prepare: () => Tables): Tables {
  try {
    return prepare();
  } catch (cause) {
    db.close();
    if (!isMissingTable(cause)) throw toStoreError(cause, path);
    throw new QavrError("STORE_CORRUPT", `The file ${path} lacks a table. ${RESTORE}`, { details: { path }, cause });
  }
}

/** Checks the path before SQLite touches it, so that the refusal names the cause. */
function assertUsable({ path, readOnly }: ResolvedOptions, marked: MarkedEnd | undefined): void {
  const kind = kindOf(path);
  if (kind === "folder") throw unwritable(path, "is a folder", "Name a file in it, such as ledger.db.");
  if (kind === "stub") {
    throw new QavrError("STORE_CORRUPT", `The file ${path} is too short for a database: it was truncated. ${RESTORE}`, {
      details: { path },
    });
  }
  if (readOnly) {
    if (kind === "hidden") throw unwritable(path, "cannot be reached", "Check the permissions of its folders.");
    // SQLite deletes the log beside an empty file even when it only reads.
    if (kind === "empty" && marked) throw commitsLost(path, marked, 0);
    if (holdsNothing(kind)) throw notReadable(path, "new");
    return;
  }
  const log = holdsNothing(kind) ? logLeftBeside(path) : undefined;
  // Checked again: another process may have made the ledger meanwhile, to which the log then belongs.
  if (log !== undefined && holdsNothing(kindOf(path))) throw logWithoutLedger(path, log);
  try {
    createDurableFolder(dirname(path));
    // SQLite opens an unwritable file for reading and fails at the first commit only; its log needs the folder.
    if (kind !== "missing") accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
  } catch (cause) {
    throw unwritable(path, "cannot be written", "Check the permissions of the file and its folder.", cause);
  }
}

/**
 * - `stub`: shorter than any database; SQLite would take it for an empty file and overwrite it
 * - `hidden`: there or not, as in a folder that must not be entered
 */
type PathKind = "file" | "folder" | "stub" | "empty" | "missing" | "hidden";

function kindOf(path: string): PathKind {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return "folder";
    if (!found.isFile() || found.size >= SMALLEST_DATABASE) return "file";
    return found.size === 0 ? "empty" : "stub";
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "") ? "missing" : "hidden";
  }
}

/** True where SQLite makes a new ledger. */
function holdsNothing(kind: PathKind): boolean {
  return kind === "missing" || kind === "empty";
}

function unwritable(path: string, reason: string, advice: string, cause?: unknown): QavrError {
  return new QavrError("STORE_UNWRITABLE", `The file ${path} ${reason}. ${advice}`, { details: { path }, cause });
}

/** SQLite would delete the log, and with it acknowledged commits that had not reached the file. */
function logWithoutLedger(path: string, log: string): QavrError {
  return new QavrError(
    "STORE_UNWRITABLE",
    `The file ${path} is empty or missing, but an earlier file has left ${log}, which holds outcomes. Move it to where that file went, or choose a new path.`,
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
  const reason = kind === "older" ? "has an older schema" : existsSync(path) ? "is empty" : "does not exist yet";
  return new QavrError(
    "STORE_UNAVAILABLE",
    `The ledger ${path} ${reason}, so it cannot be opened read-only. Open it once for writing.`,
    { details: { path } },
  );
}

/**
 * Repeats while another process holds the file. SQLite's own busy timeout does not cover every step of opening: the change to WAL mode
 * and the recovery of a log fail at once when two processes meet.
 */
function retryWhileBusy(timeout: number, attempt: () => void): void {
  const until = performance.now() + timeout;
  for (;;) {
    try {
      attempt();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
