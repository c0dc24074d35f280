import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import {
  bytesToName,
  type EntryColumns,
  keptTime,
  type LedgerEntry,
  nameToBytes,
  type SpooledCommit,
  type WaitingCommit,
} from "@qavr/core";
import { entryChecksum } from "./entry-checksum.js";
import type { FileFormat } from "./schema.js";

/** `AUTOINCREMENT`: the number of a commit that has left the spool is never given to another. */
export const SPOOL: FileFormat = {
  what: "spool",
  // "qavs" in ASCII.
  applicationId: 0x71617673,
  migrations: [
    `
    CREATE TABLE waiting (
      id        INTEGER PRIMARY KEY AUTOINCREMENT,
      namespace BLOB    NOT NULL,
      bytes     INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX waiting_bytes ON waiting (bytes);

    CREATE TABLE waiting_entry (
      waiting  INTEGER NOT NULL,
      place    INTEGER NOT NULL,
      key      BLOB    NOT NULL,
      type     BLOB    NOT NULL,
      at       REAL    NOT NULL,
      payload  BLOB    NOT NULL,
      checksum INTEGER NOT NULL,
      PRIMARY KEY (waiting, place)
    ) STRICT;
    `,
    coverNamespaces,
  ],
};

/** Outcomes that wait get checksums that cover their namespace: a damaged one would have passed them on to another tenant. */
function coverNamespaces(db: DatabaseSync): void {
  const rows = db.prepare(
    "SELECT e.*, w.namespace FROM waiting_entry AS e JOIN waiting AS w ON w.id = e.waiting ORDER BY e.waiting, e.place",
  );
  const set = db.prepare("UPDATE waiting_entry SET checksum = ? WHERE waiting = ? AND place = ?");
  for (const row of rows.all() as unknown as (EntryRow & Pick<CommitRow, "namespace">)[]) {
    // What is damaged stays so.
    if (entryChecksum({ ...row, seq: row.place }) !== row.checksum) continue;
    set.run(checksumOf(row.namespace, row), row.waiting, row.place);
  }
}

/** Over an entry's columns, its place in its commit, and the commit's namespace. */
function checksumOf(namespace: Uint8Array, entry: Omit<EntryColumns, "seq"> & { readonly place: number }): number {
  return crc32(namespace, entryChecksum({ ...entry, seq: entry.place }));
}

interface CommitRow {
  readonly id: number;
  readonly namespace: Uint8Array;
  readonly bytes: number;
}

interface EntryRow {
  readonly waiting: number;
  readonly place: number;
  readonly key: Uint8Array;
  readonly type: Uint8Array;
  readonly at: number;
  readonly payload: Uint8Array;
  readonly checksum: number;
}

/** The SQL of the spool. None of the methods opens a transaction. */
export interface SpoolTables {
  /** Commits that wait, and the bytes of their entries. */
  extent(): { readonly commits: number; readonly bytes: number };
  add(commit: SpooledCommit): void;
  read(after: number, limit: number): WaitingCommit[];
  remove(id: number): void;
}

/** Prepares every statement. @throws SQLite's error if a table is missing. */
export function spoolTables(db: DatabaseSync, path: string): SpoolTables {
  const extent = db.prepare("SELECT count(*) AS commits, coalesce(sum(bytes), 0) AS bytes FROM waiting");
  const addCommit = db.prepare("INSERT INTO waiting (namespace, bytes) VALUES (?, ?) RETURNING id");
  const addEntry = db.prepare(
    "INSERT INTO waiting_entry (waiting, place, key, type, at, payload, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const commits = db.prepare("SELECT id, namespace, bytes FROM waiting WHERE id > ? ORDER BY id LIMIT ?");
  const entries = db.prepare("SELECT * FROM waiting_entry WHERE waiting = ? ORDER BY place");
  const removals = ["waiting_entry WHERE waiting", "waiting WHERE id"].map((where) =>
    db.prepare(`DELETE FROM ${where} = ?`),
  );

  const toEntry = (namespace: Uint8Array, row: EntryRow): LedgerEntry => {
    const { place, at, payload } = row;
    if (checksumOf(namespace, row) !== row.checksum) {
      throw new Error(`entry ${place} or the namespace does not fit its checksum`);
    }
    return { key: bytesToName(row.key), type: bytesToName(row.type), at, payload };
  };

  /** Damage to one commit is that commit's affair: those after it are read all the same. */
  const toCommit = ({ id, namespace, bytes }: CommitRow, rows: readonly EntryRow[]): WaitingCommit => {
    let name = "";
    try {
      name = bytesToName(namespace);
      const commit = { id, namespace: name, entries: rows.map((row) => toEntry(namespace, row)) };
      if (sizeOf(commit) !== bytes) throw new Error("some of its entries are missing");
      return commit;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { id, namespace: name, entries: [], damage: `commit ${id} in the spool ${path}: ${problem}` };
    }
  };

  return {
    extent: () => extent.get() as unknown as ReturnType<SpoolTables["extent"]>,

    add(commit) {
      const namespace = nameToBytes(commit.namespace);
      const id = addCommit.get(namespace, sizeOf(commit))?.id as number;
      commit.entries.forEach(({ key, type, at, payload }, place) => {
        const row = { place, key: nameToBytes(key), type: nameToBytes(type), at: keptTime(at), payload };
        addEntry.run(id, place, row.key, row.type, row.at, payload, checksumOf(namespace, row));
      });
    },

    read: (after, limit) =>
      (commits.all(after, limit) as unknown as CommitRow[]).map((row) =>
        toCommit(row, entries.all(row.id) as unknown as EntryRow[]),
      ),

    remove(id) {
      for (const removal of removals) removal.run(id);
    },
  };
}

/** What a commit counts for, in bytes. */
export function sizeOf({ entries }: SpooledCommit): number {
  return entries.reduce((bytes, { key, payload }) => bytes + key.length + payload.length, 0);
}
