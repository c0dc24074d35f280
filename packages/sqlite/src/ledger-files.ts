import { type BigIntStats, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { QavrError } from "@qavr/core";

/** Suffix of the write-ahead log: commits are there until they are in the file. */
const LOG = "-wal";
/** Suffix of the file that names the last commit. */
export const MARK = "-mark";
/** Advice for a damaged file. A mark that stays behind would refuse an older backup in its place. */
export const RESTORE = "Move it away with its -wal, -shm and -mark, and restore a backup, or choose another path.";
/** Files that SQLite keeps beside a database. It plays a log left behind into any file with its name. */
export const COMPANIONS: readonly string[] = [LOG, "-shm", "-journal"];

/** Files that an earlier ledger of this name left. */
export function leftBeside(path: string): string[] {
  return COMPANIONS.map((suffix) => path + suffix).filter((file) => existsSync(file));
}

/** The log, if it is not empty. SQLite deletes it when it makes a new file. */
export function logLeftBeside(path: string): string | undefined {
  const log = path + LOG;
  // In a folder that must not be entered it is not seen: opening the ledger names that obstacle.
  return existsSync(log) && look(log)?.size ? log : undefined;
}

/** The files of an open connection. */
export interface OpenFiles {
  /**
   * Bytes of the log.
   *
   * @throws STORE_UNAVAILABLE when the ledger or its log was deleted, moved or replaced: writes would be lost
   */
  logBytes(): number;
}

/** Notes the identity of the files. Call it after they were opened. */
export function openFiles(path: string): OpenFiles {
  const noted = [path, path + LOG].map((file) => ({ file, identity: identityOf(look(file)) }));
  return {
    logBytes() {
      let bytes = 0n;
      for (const { file, identity } of noted) {
        const found = look(file);
        if (identity !== undefined && identityOf(found) !== identity) throw notThere(path, file);
        bytes = found?.size ?? 0n;
      }
      return Number(bytes);
    },
  };
}

/**
 * Notes the version of a ledger that SQLite opened as immutable, without a log and without locks.
 *
 * @returns a check that throws STORE_UNAVAILABLE once another connection has written, or is about to
 */
export function frozenFile(path: string): () => void {
  const versionOf = (found: BigIntStats | undefined): string | undefined =>
    found && [found.dev, found.ino, found.size, found.mtimeNs].join(":");
  const noted = versionOf(look(path));
  return () => {
    if (versionOf(look(path)) === noted && logLeftBeside(path) === undefined) return;
    throw new QavrError(
      "STORE_UNAVAILABLE",
      `Another process writes to the ledger ${path}, which was opened read-only without locks. Open it again.`,
      { details: { path } },
    );
  };
}

/**
 * Notes which file a connection reads.
 *
 * @returns a check that throws STORE_UNAVAILABLE once the ledger was deleted, moved or replaced: the connection goes on reading the old one
 */
export function sameFile(path: string): () => void {
  const noted = identityOf(look(path));
  return () => {
    if (noted === undefined || identityOf(look(path)) === noted) return;
    throw new QavrError(
      "STORE_UNAVAILABLE",
      `The file ${path} was deleted or replaced while it was open for reading. Open it again.`,
      { details: { path, file: path } },
    );
  };
}

function look(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

/** Undefined for a missing file, and on file systems without file numbers (some on Windows). */
function identityOf(found: BigIntStats | undefined): string | undefined {
  return found && found.ino !== 0n ? `${found.dev}:${found.ino}` : undefined;
}

function notThere(path: string, file: string): QavrError {
  return new QavrError(
    "STORE_UNAVAILABLE",
    `The file ${file} was deleted or replaced while ${path} was open, so writes are refused. Close it, restore its files, and open it again.`,
    { details: { path, file } },
  );
}

/**
 * Creates a folder and its missing parents so that they survive power loss: SQLite syncs the folder of its files, but not the entries
 * of new folders above it. One by one, since Node's own `recursive` never returns below /proc, where nothing can be created.
 *
 * @throws the file system's error if a folder cannot be created
 */
export function createDurableFolder(folder: string): void {
  if (existsSync(folder)) return;
  createDurableFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process made it first, and syncs it.
    if (existsSync(folder)) return;
    throw error;
  }
  syncFolder(dirname(folder));
}

/**
 * Makes the bytes of an open file survive power loss. Node's permission model has no fsync, whatever may be written: there the system
 * writes them in its own time. SQLite's own syncs, and so those of commits, are not affected.
 *
 * @throws the file system's error
 */
export function syncOpen(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_ACCESS_DENIED") throw error;
  }
}

/** Makes the names in a folder survive power loss. Best effort: Windows cannot open a folder, and keeps its entries safe by itself. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The folder exists, and the platform offers no more.
  }
}
