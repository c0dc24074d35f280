import { existsSync, readFileSync } from "node:fs";

/**
 * Transactions in a ledger's write-ahead log, counted in the file itself: each frame is a 24-byte header and a page, and the
 * header's second word is not 0 in the frame that ends a transaction. Frames of an earlier round of the log carry another salt.
 * Format: https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function walCommits(path: string): number {
  if (!existsSync(`${path}-wal`)) return 0;
  const wal = readFileSync(`${path}-wal`);
  if (wal.length < 32) return 0;
  const pageSize = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + 24 + pageSize <= wal.length; at += 24 + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) !== 0) commits++;
  }
  return commits;
}
