import type { DatabaseSync } from "node:sqlite";
import {
  bytesToName,
  keptTime,
  type LedgerEntry,
  nameToBytes,
  QavrError,
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
  ],
};

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
  add(commit: SpooledCommit, bytes: number): void;
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
  const commits = db.prepare("SELECT id, namespace FROM waiting WHERE id > ? ORDER BY id LIMIT ?");
  const entries = db.prepare("SELECT * FROM waiting_entry WHERE waiting = ? ORDER BY place");
  const removals = ["waiting_entry WHERE waiting", "waiting WHERE id"].map((where) =>
    db.prepare(`DELETE FROM ${where} = ?`),
  );

  const toEntry = (row: EntryRow): LedgerEntry => {
    const { waiting, place, at, payload } = row;
    if (entryChecksum({ ...row, seq: place }) !== row.checksum) {
      throw new QavrError(
        "STORE_CORRUPT",
        `Commit ${waiting} in the spool ${path} is damaged. Move the file away with its -wal and -shm: a new one is made.`,
        { details: { path, commit: waiting } },
      );
    }
    return { key: bytesToName(row.key), type: bytesToName(row.type), at, payload };
  };

  return {
    extent: () => extent.get() as unknown as ReturnType<SpoolTables["extent"]>,

    add(commit, bytes) {
      const id = addCommit.get(nameToBytes(commit.namespace), bytes)?.id as number;
      commit.entries.forEach(({ key, type, at, payload }, place) => {
        const row = { seq: place, key: nameToBytes(key), type: nameToBytes(type), at: keptTime(at), payload };
        addEntry.run(id, place, row.key, row.type, row.at, payload, entryChecksum(row));
      });
    },

    read: (after, limit) =>
      commits.all(after, limit).map((row) => ({
        id: row.id as number,
        namespace: bytesToName(row.namespace as Uint8Array),
        entries: (entries.all(row.id as number) as unknown as EntryRow[]).map(toEntry),
      })),

    remove(id) {
      for (const removal of removals) removal.run(id);
    },
  };
}
