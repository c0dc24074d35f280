import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import { QavrError } from "@qavr/core";
import { logLeftBeside } from "./ledger-files.js";

/**
 * Looks at a write-ahead log before SQLite opens it. SQLite drops everything from the first bad frame on, which is right for the last
 * transaction of a lost process and wrong for a log that has rotted: under `synchronous = FULL` each commit is synced before the next one
 * is written, so a bad frame with frames of a later commit behind it was whole once.
 *
 * Checksums are cumulative: the checksum of frame n starts from that of frame n − 1. Behind a bad frame, each frame is held against the
 * checksum that is stored in the frame before it.
 * Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
 */

/** Place and extent of the damage in a log. */
export interface LogDamage {
  readonly log: string;
  /** Place of the first damaged byte's frame in the log, in bytes. */
  readonly at: number;
  /** Transactions before it, which are whole. */
  readonly whole: number;
  /** Transactions behind it that can be counted: they are in the log, and SQLite would drop them. */
  readonly behind: number;
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The low bit says whether checksums read their words big-endian. */
const MAGIC = 0x377f0682;
/** Read at once, in bytes. */
const CHUNK = 1_048_576;
/** A log that another process starts anew during the look is looked at again, so often at most. */
const ATTEMPTS = 3;

/** @returns undefined for a log that is whole, torn in its last transaction only, empty, or not there */
export function damageOfLog(path: string): LogDamage | undefined {
  const log = logLeftBeside(path);
  if (log === undefined) return undefined;
  let file: number;
  try {
    file = openSync(log, "r");
  } catch (error) {
    // Another process has closed the ledger meanwhile. Every other obstacle is met again, and named, by SQLite.
    if (["ENOENT", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const seen = scan(file, log);
      if (!seen) return undefined;
      // A writer writes in order: a frame that looked bad while later ones were there is bad if it still is.
      if (seen.stays()) return seen.damage;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** @throws STORE_CORRUPT for a rotten log */
export function assertWholeLog(path: string): void {
  const damage = damageOfLog(path);
  if (!damage) return;
  const { log, at, whole, behind } = damage;
  throw new QavrError(
    "STORE_CORRUPT",
    `The log ${log} is damaged at byte ${at}: the ${whole} transactions before it are whole, at least ${behind} after it are lost. ${KEEP_OR_RESTORE}`,
    { details: { path, log, at, whole, lost: behind } },
  );
}

/** Advice for a ledger of which a part is lost. */
export const KEEP_OR_RESTORE =
  "Move the ledger away with its -wal, -shm and -mark, and restore a backup, or keep what is whole with repairLedger(path) of @qavr/sqlite (qavr ledger repair).";

interface Header {
  readonly bytes: Buffer;
  readonly pageSize: number;
  readonly bigEndian: boolean;
  readonly isValid: boolean;
}

interface Suspicion {
  readonly damage: LogDamage;
  /** Reads the bad place again: true when it is as bad as before. */
  stays(): boolean;
}

function scan(file: number, log: string): Suspicion | undefined {
  const { size } = fstatSync(file);
  const header = readHeader(file);
  // Without content, or not written yet: a new file may hold zeros after a power cut.
  if (!header || header.bytes.every((byte) => byte === 0)) return undefined;
  const frameBytes = FRAME_HEADER_BYTES + header.pageSize;
  const frames = Math.floor((size - HEADER_BYTES) / frameBytes);
  if (frames < 1) return undefined;
  if (!header.isValid) {
    return {
      damage: { log, at: 0, whole: 0, behind: 1 },
      stays: () => readHeader(file)?.bytes.equals(header.bytes) ?? false,
    };
  }
  const salts = header.bytes.subarray(16, 24);
  const perChunk = Math.max(1, Math.floor(CHUNK / frameBytes));
  const chunk = Buffer.from(new ArrayBuffer(perChunk * frameBytes));
  /** Stored in the header or in the frame before. */
  let before: Checksum = [header.bytes.readInt32BE(24), header.bytes.readInt32BE(28)];
  let bad: { readonly frame: number; readonly before: Checksum } | undefined;
  let endsCommit = false;
  let whole = 0;
  let behind = 0;
  let isRotten = false;
  for (let first = 0; first < frames; first += perChunk) {
    const read = readSync(
      file,
      chunk,
      0,
      Math.min(perChunk, frames - first) * frameBytes,
      HEADER_BYTES + first * frameBytes,
    );
    for (let place = 0; (place + 1) * frameBytes <= read; place++) {
      const frame = chunk.subarray(place * frameBytes, (place + 1) * frameBytes);
      const isOfThisLog = frame.subarray(8, 16).equals(salts);
      const isWhole = isOfThisLog && hasChecksum(frame, before, header.bigEndian);
      if (!isWhole) bad ??= { frame: first + place, before };
      else if (bad && endsCommit) isRotten = true;
      // The frame that ends a transaction has the size of the database in pages. That of a bad frame counts, too: the next frame is whole
      // only where this one's header is right.
      endsCommit = frame.readUInt32BE(4) !== 0;
      if (isWhole && endsCommit) {
        if (bad) behind += 1;
        else whole += 1;
      }
      before = [frame.readInt32BE(16), frame.readInt32BE(20)];
    }
  }
  if (!bad || !isRotten) return undefined;
  const { frame, before: chained } = bad;
  const at = HEADER_BYTES + frame * frameBytes;
  return {
    damage: { log, at, whole, behind },
    stays() {
      const again = Buffer.from(new ArrayBuffer(frameBytes));
      readSync(file, again, 0, frameBytes, at);
      if (!readHeader(file)?.bytes.equals(header.bytes)) return false;
      return !(again.subarray(8, 16).equals(salts) && hasChecksum(again, chained, header.bigEndian));
    },
  };
}

function readHeader(file: number): Header | undefined {
  const bytes = Buffer.from(new ArrayBuffer(HEADER_BYTES));
  if (readSync(file, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined;
  const magic = bytes.readUInt32BE(0);
  const bigEndian = (magic & 1) === 1;
  const pageSize = bytes.readUInt32BE(8);
  const isPageSize = pageSize >= 512 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0;
  const [first, second] = addWords([0, 0], words(bytes, 0, 24, bigEndian));
  const isValid =
    (magic & ~1) === MAGIC && isPageSize && first === bytes.readInt32BE(24) && second === bytes.readInt32BE(28);
  return { bytes, pageSize: isPageSize ? pageSize : 4_096, bigEndian, isValid };
}

/** Two 32-bit sums. */
type Checksum = readonly [number, number];

/** True when a frame carries the checksum of its first 8 bytes and its page, continued from `before`. */
function hasChecksum(frame: Buffer, before: Checksum, bigEndian: boolean): boolean {
  const head = addWords(before, words(frame, 0, 8, bigEndian));
  const [first, second] = addWords(head, words(frame, FRAME_HEADER_BYTES, frame.length, bigEndian));
  return first === frame.readInt32BE(16) && second === frame.readInt32BE(20);
}

/**
 * SQLite's checksum, for each pair of words x, y, modulo 2^32:
 *
 *     s_1 ← s_1 + x + s_2,  s_2 ← s_2 + y + s_1
 */
function addWords([first, second]: Checksum, values: Int32Array): Checksum {
  let [s1, s2] = [first, second];
  for (let i = 0; i < values.length; i += 2) {
    s1 = (s1 + (values[i] as number) + s2) | 0;
    s2 = (s2 + (values[i + 1] as number) + s1) | 0;
  }
  return [s1, s2];
}

const HOST_IS_BIG_ENDIAN = endianness() === "BE";

function words(bytes: Buffer, from: number, to: number, bigEndian: boolean): Int32Array {
  const part = bytes.subarray(from, to);
  if (bigEndian === HOST_IS_BIG_ENDIAN) return new Int32Array(part.buffer, part.byteOffset, part.length >> 2);
  const swapped = Buffer.from(part.buffer.slice(part.byteOffset, part.byteOffset + part.length)).swap32();
  return new Int32Array(swapped.buffer, swapped.byteOffset, swapped.length >> 2);
}
