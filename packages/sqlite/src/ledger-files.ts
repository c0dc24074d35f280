import { type BigIntStats, existsSync, statSync } from "node:fs";
import { QavrError } from "@qavr/core";

/** Where commits are until they are in the file. */
const LOG = "-wal";
/** What SQLite keeps beside a file, and would take for this one's: a log left behind is played into whatever has its name. */
const COMPANIONS = [LOG, "-shm", "-journal"];

/** Files that an earlier ledger of this name has left. */
export function leftBeside(path: string): string[] {
  return COMPANIONS.map((suffix) => path + suffix).filter((file) => existsSync(file));
}

/** The log, if there is something in it: SQLite deletes it when it makes a new file. */
export function logLeftBeside(path: string): string | undefined {
  const log = path + LOG;
  return look(log)?.size ? log : undefined;
}

/** The files that a connection has open: those that had the names when it was opened. */
export interface OpenFiles {
  /**
   * Bytes of the log.
   *
   * @throws STORE_UNAVAILABLE when the ledger or its log was deleted or replaced: what is written then goes into nothing, or into a
   *   file that somebody has moved away
   */
  logBytes(): number;
}

/** Notes which files these are. Call it when they are open and exist. */
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
 * Notes what a ledger is that SQLite was told nobody writes to: it looks for no log then, and takes no lock.
 *
 * @returns what refuses every use after somebody has written, or is about to. It throws STORE_UNAVAILABLE
 */
export function frozenFile(path: string): () => void {
  const versionOf = (found: BigIntStats | undefined): string | undefined =>
    found && [found.dev, found.ino, found.size, found.mtimeNs].join(":");
  const noted = versionOf(look(path));
  return () => {
    if (versionOf(look(path)) === noted && logLeftBeside(path) === undefined) return;
    throw new QavrError(
      "STORE_UNAVAILABLE",
      `Somebody writes to the ledger ${path}, which was opened for reading in a place that cannot be written while nobody did. Open it again.`,
      { details: { path } },
    );
  };
}

function look(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

/** Undefined where files have no number (some file systems on Windows), or there is no file. */
function identityOf(found: BigIntStats | undefined): string | undefined {
  return found && found.ino !== 0n ? `${found.dev}:${found.ino}` : undefined;
}

function notThere(path: string, file: string): QavrError {
  return new QavrError(
    "STORE_UNAVAILABLE",
    `The file ${file} was deleted or replaced while ${path} was open: nothing more is written. Close it, put its files in their places, and open it again.`,
    { details: { path, file } },
  );
}
