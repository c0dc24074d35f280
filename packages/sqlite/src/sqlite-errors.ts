import { type ErrorCode, QavrError } from "@qavr/core";
import { RESTORE } from "./ledger-files.js";

/** Primary result codes of SQLite with a code of their own. https://sqlite.org/rescode.html */
const CODES: Readonly<Record<number, ErrorCode>> = {
  3: "STORE_UNWRITABLE", // PERM
  5: "STORE_BUSY", // BUSY
  6: "STORE_BUSY", // LOCKED
  8: "STORE_UNWRITABLE", // READONLY
  11: "STORE_CORRUPT", // CORRUPT
  13: "STORE_UNWRITABLE", // FULL
  14: "STORE_UNWRITABLE", // CANTOPEN
  26: "STORE_CORRUPT", // NOTADB
};

const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  STORE_UNWRITABLE: "Check the permissions of the file and its folder, and the free space on the disk.",
  STORE_BUSY: "Another process holds its lock: try again, close it, or raise busyTimeout of sqliteStore().",
  STORE_CORRUPT: RESTORE,
};

/** SQLite's extended result code, if this is one of its errors. */
function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code : undefined;
}

/** The error code for a result of SQLite. The primary code is the low byte of an extended one. */
function meaningOf(error: unknown): ErrorCode | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : CODES[code & 0xff];
}

/** An error of SQLite inside a transaction. It fails the whole transaction, unlike an error of a caller's reduction. */
export class FileFailure extends Error {
  override readonly name = "FileFailure";
}

/**
 * Runs a transaction's work on the file. Wrapping it here keeps it apart from errors of a reduction, which may use a database of its
 * own.
 *
 * @throws FileFailure with SQLite's error as its cause; other errors unchanged
 */
export function onFile<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw resultCode(cause) === undefined ? cause : new FileFailure("The file failed.", { cause });
  }
}

/** True when another connection held a lock. */
export function isBusy(error: unknown): boolean {
  return meaningOf(error) === "STORE_BUSY";
}

/** True for a statement that the tables do not fit. SQLite has a code for wrong SQL in general: 1. */
export function isMissingTable(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & 0xff) === 1;
}

/** True when SQLite could not write or create a file. */
export function isUnwritable(error: unknown): boolean {
  return meaningOf(error) === "STORE_UNWRITABLE";
}

/** An error of the binding or the file system as a QavrError. A QavrError is returned unchanged. */
export function toStoreError(error: unknown, path: string): QavrError {
  if (QavrError.isInstance(error)) return error;
  const cause = error instanceof FileFailure ? error.cause : error;
  const sqliteCode = resultCode(cause);
  const code = meaningOf(cause) ?? "STORE_FAILED";
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = ADVICE[code] ?? "Check the disk and the free space on it; the cause says more.";
  return new QavrError(code, `The file ${path} could not be used: ${reason}. ${advice}`, {
    details: { path, ...(sqliteCode === undefined ? {} : { sqliteCode }) },
    cause,
  });
}

/** The error for an entry that does not fit its digest. */
export function damagedEntry(path: string, seq: number): QavrError {
  return new QavrError("STORE_CORRUPT", `Entry ${seq} in the ledger ${path} is damaged. Restore a backup.`, {
    details: { path, seq },
  });
}

/**
 * The error for a namespace whose row does not name its last entry, and can be set to it.
 *
 * @param last place of the last entry that is there
 */
export function damagedHead(
  path: string,
  { namespace, head }: { readonly namespace: string; readonly head: number },
  last: number,
): QavrError {
  return new QavrError(
    "STORE_CORRUPT",
    `The head of namespace ${namespace} in the ledger ${path} is damaged: it names entry ${head}, and the last one is ${last}. Call repair(engine), or restore a backup.`,
    { details: { path, namespace, head, last } },
  );
}

/** The error for a namespace whose row names entries that are gone: no repair brings them back. */
export function entriesMissing(
  path: string,
  { namespace, head }: { readonly namespace: string; readonly head: number },
  last: number,
): QavrError {
  return new QavrError(
    "STORE_CORRUPT",
    `Entries of namespace ${namespace} in the ledger ${path} are missing: its head names entry ${head}, and the last one is ${last}. Restore a backup.`,
    { details: { path, namespace, head } },
  );
}

/** The error for checkpoint states that do not fit their digest. */
export function damagedCheckpoint(path: string, seq: number): QavrError {
  return new QavrError(
    "STORE_CORRUPT",
    `The checkpoint at ${seq} in the ledger ${path} is damaged. Restore a backup.`,
    {
      details: { path, seq },
    },
  );
}
