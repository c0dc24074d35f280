import { closeSync, constants, openSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { QavrError } from "@qavr/core";
import { crc32, sameBytes } from "@qavr/core/store";
import { MARK, syncFolder, syncOpen } from "./ledger-files.js";
import type { LedgerTables, MarkedEnd } from "./ledger-tables.js";
import { KEEP_OR_RESTORE } from "./log-check.js";
import { isBusy } from "./sqlite-errors.js";

/**
 * The last commit that a ledger is known to hold, in a small file beside it: a log that was deleted or shortened has no trace in itself.
 * Written after each commit, without a sync. It may be behind the ledger (a power cut loses it first) but never ahead of it.
 *
 * Two slots, each with a checksum:
 * - state: generation, and whether commits may be unsynced. Changed under the write lock, and synced.
 * - last commit: generation, row id of the namespace, head, digest. It counts if its generation is that of the state, since a row id may
 *   have another owner after an erasure.
 */
export interface HighWaterMark {
  /** Call it under the write lock, before the transaction's first write. */
  begin(): void;
  /** Call it after COMMIT, with one namespace that the transaction appended to. */
  committed(end: MarkedEnd): void;
  /** Call it under the write lock, before the COMMIT of a transaction that removes a namespace. @throws the file system's error */
  forget(): void;
  close(): void;
}

/** Contents of the file. */
export interface Marked {
  readonly last: MarkedEnd | undefined;
  /** True when a connection with `synchronous = normal` may have written: its log may be torn anywhere. */
  readonly unsynced: boolean;
}

const SLOT = 64;
const DIGEST = 16;
const UNSYNCED = 1;
/** "qavrmark" in ASCII. */
const MAGIC = Uint8Array.of(0x71, 0x61, 0x76, 0x72, 0x6d, 0x61, 0x72, 0x6b);

interface State {
  readonly generation: number;
  readonly unsynced: boolean;
}

/** Reads the mark of a ledger. A missing or damaged one says nothing. */
export function readMark(path: string): Marked {
  let file: number | undefined;
  try {
    file = openSync(path + MARK, "r");
    const state = readState(file);
    return { last: state && readLast(file, state.generation), unsynced: state?.unsynced ?? false };
  } catch {
    return { last: undefined, unsynced: false };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * Opens the mark of a ledger for writing, and makes it if there is none.
 *
 * @param fresh true to begin anew, for a new ledger
 * @param synced true when this connection syncs its commits; only such commits are marked
 * @param logIsEmpty true when every earlier commit is in the ledger's file
 * @throws the file system's error
 */
export function openMark(
  path: string,
  { fresh, synced, logIsEmpty }: { readonly fresh: boolean; readonly synced: boolean; readonly logIsEmpty: boolean },
): HighWaterMark {
  const file = openForWriting(path);
  const known = fresh ? undefined : readState(file);
  const unsynced = !synced || (known?.unsynced === true && !logIsEmpty);
  if (!known || known.unsynced !== unsynced) {
    if (!known) writeSync(file, new Uint8Array(SLOT), 0, SLOT, SLOT);
    writeState(file, { generation: known?.generation ?? 0, unsynced });
    if (!known) syncFolder(dirname(path));
  }
  let generation = 0;
  const slot = new DataView(new ArrayBuffer(SLOT));
  const bytes = new Uint8Array(slot.buffer);
  return {
    begin() {
      if (synced) generation = readState(file)?.generation ?? 0;
    },
    committed({ id, head, digest }) {
      if (!synced) return;
      slot.setUint32(0, generation);
      slot.setFloat64(8, id);
      slot.setFloat64(16, head);
      bytes.set(digest, 24);
      seal(slot);
      try {
        writeSync(file, bytes, 0, SLOT, SLOT);
      } catch {
        // The commit is durable; its mark stays behind.
      }
    },
    forget() {
      // By its name: another user's process may have replaced it.
      const current = openForWriting(path);
      try {
        const state = readState(current);
        writeState(current, { generation: (state?.generation ?? 0) + 1, unsynced: state?.unsynced ?? unsynced });
      } finally {
        closeSync(current);
      }
    },
    close: () => closeSync(file),
  };
}

/** Replaces the mark of another user, which may be written by that user alone although the ledger is shared. */
function openForWriting(path: string): number {
  const open = (): number => openSync(path + MARK, constants.O_RDWR | constants.O_CREAT, statSync(path).mode & 0o777);
  try {
    return open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    rmSync(path + MARK);
    return open();
  }
}

/**
 * Holds a ledger against its mark. Call it inside a transaction that began after the mark was read. Damage to rows that are there is left
 * to verification, which says more.
 *
 * @throws STORE_CORRUPT when the marked commit is not there, or another one is in its place
 */
export function assertReaches(marked: MarkedEnd, tables: LedgerTables, path: string): void {
  const { id, head, digest } = marked;
  try {
    const row = tables.namespaceAt(id);
    const last = Math.max(row?.head ?? 0, row?.base ?? 0, tables.lastEntry(id)?.seq ?? 0);
    const end = row && last === row.base ? row.baseDigest : tables.digestAt(id, last);
    // A ledger without its last commits is whole in itself.
    if (last < head && (!row || (end && sameBytes(end, row.digest)))) throw commitsLost(path, marked, last);
    const found = row && tables.digestAt(id, head);
    if (!found || sameBytes(found, digest)) return;
    tables.assertEntryAt(row, head);
    throw commitsLost(path, marked, last);
  } catch (error) {
    if (QavrError.isInstance(error) ? error.details.marked !== undefined : isBusy(error)) throw error;
  }
}

/** @param head of the namespace now */
export function commitsLost(path: string, marked: MarkedEnd, head: number): QavrError {
  const lost = marked.head - head;
  const what = lost > 0 ? `at least the last ${lost} entries of a namespace` : `its entry ${marked.head}`;
  return new QavrError(
    "STORE_CORRUPT",
    `The ledger ${path} lacks commits that were durable, ${what}: its log was lost or shortened, or the file is another copy. ${KEEP_OR_RESTORE}`,
    { details: { path, head, marked: marked.head, lost: Math.max(lost, 1) } },
  );
}

function readState(file: number): State | undefined {
  const slot = readSlot(file, 0);
  if (!slot || !sameBytes(new Uint8Array(slot.buffer, 0, MAGIC.length), MAGIC)) return undefined;
  return { generation: slot.getUint32(8), unsynced: (slot.getUint32(12) & UNSYNCED) !== 0 };
}

function writeState(file: number, { generation, unsynced }: State): void {
  const slot = new DataView(new ArrayBuffer(SLOT));
  const bytes = new Uint8Array(slot.buffer);
  bytes.set(MAGIC);
  slot.setUint32(8, generation);
  slot.setUint32(12, unsynced ? UNSYNCED : 0);
  seal(slot);
  writeSync(file, bytes, 0, SLOT, 0);
  syncOpen(file);
}

function readLast(file: number, generation: number): MarkedEnd | undefined {
  const slot = readSlot(file, SLOT);
  if (!slot || slot.getUint32(0) !== generation) return undefined;
  return {
    id: slot.getFloat64(8),
    head: slot.getFloat64(16),
    digest: new Uint8Array(slot.buffer, 24, DIGEST),
  };
}

/** The last 4 bytes of a slot are the checksum of the others. */
function seal(slot: DataView): void {
  slot.setUint32(SLOT - 4, crc32(new Uint8Array(slot.buffer, 0, SLOT - 4)));
}

/** Undefined for a slot that is missing or damaged. Zeros are no slot: their checksum is not 0. */
function readSlot(file: number, at: number): DataView | undefined {
  const slot = new DataView(new ArrayBuffer(SLOT));
  const bytes = new Uint8Array(slot.buffer);
  if (readSync(file, bytes, 0, SLOT, at) < SLOT) return undefined;
  return slot.getUint32(SLOT - 4) === crc32(bytes.subarray(0, SLOT - 4)) ? slot : undefined;
}
