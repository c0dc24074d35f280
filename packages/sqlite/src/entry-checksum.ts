import { crc32 } from "node:zlib";

/** The columns of an entry that its checksum covers. */
export interface ChecksummedEntry {
  readonly seq: number;
  readonly key: Uint8Array;
  readonly type: Uint8Array;
  readonly at: number;
  readonly payload: Uint8Array;
}

/**
 * CRC-32 over an entry's columns. SQLite notices damage to its own structures only: a flipped bit inside a value reads as
 * another value. The ledger is the truth that state is rebuilt from, so its rows are checked; states are not, a replay
 * finds and mends them.
 */
export function entryChecksum({ seq, key, type, at, payload }: ChecksummedEntry): number {
  const numbers = new Uint8Array(24);
  const view = new DataView(numbers.buffer);
  view.setFloat64(0, seq);
  view.setFloat64(8, at);
  view.setUint32(16, key.length);
  view.setUint32(20, type.length);
  let checksum = crc32(numbers);
  // Some versions of Node start again at 0 when they meet an array of no bytes.
  for (const bytes of [key, type, payload]) if (bytes.length > 0) checksum = crc32(bytes, checksum);
  return checksum;
}
