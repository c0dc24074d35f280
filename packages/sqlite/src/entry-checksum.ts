import { crc32 } from "node:zlib";
import type { EntryColumns } from "@qavr/core";

/** CRC-32 over an entry's columns: of entries that stand alone, in no ledger's chain. */
export function entryChecksum({ seq, key, type, at, payload }: EntryColumns): number {
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
