import type { DatabaseSync } from "node:sqlite";
import { bytesToName, type EntryColumns } from "@qavr/core";
import { digests } from "./digests.js";
import { entryChecksum } from "./entry-checksum.js";
import { damagedEntry } from "./sqlite-errors.js";

type Row = EntryColumns & { readonly id: number; readonly checksum: number };

/**
 * Gives the entries of a ledger that has checksums only their digests.
 *
 * @throws STORE_CORRUPT where a checksum does not fit: a digest would make the damage look like what was written.
 */
export function chainEntries(db: DatabaseSync, path: string): void {
  const entries = db.prepare(
    "SELECT id, seq, key, type, at, payload, checksum FROM entry WHERE namespace = ? ORDER BY seq",
  );
  const setEntry = db.prepare("UPDATE entry SET digest = ? WHERE id = ?");
  const setNamespace = db.prepare("UPDATE namespace SET digest = ?, base_digest = ? WHERE id = ?");
  for (const { id, name } of db.prepare("SELECT id, name FROM namespace").all()) {
    const first = digests.first(bytesToName(name as Uint8Array));
    let digest = first;
    for (const row of entries.iterate(id as number) as Iterable<unknown> as Iterable<Row>) {
      if (entryChecksum(row) !== row.checksum) throw damagedEntry(path, row.seq);
      digest = digests.entry(digest, row);
      setEntry.run(digest, row.id);
    }
    setNamespace.run(digest, first, id as number);
  }
}
