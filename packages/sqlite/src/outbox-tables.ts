import type { DatabaseSync } from "node:sqlite";
import { QavrError } from "@qavr/core";
import {
  bytesToName,
  type ChainedEntry,
  chainedEntries,
  chainOn,
  nameToBytes,
  type QueuedCommit,
  type WaitingCommit,
  withoutNegativeZero,
} from "@qavr/core/store";
import { digests } from "./ledger-tables.js";
import type { FileFormat } from "./schema.js";

/**
 * The format of an outbox. `AUTOINCREMENT`: the number of a removed commit is never used again. Entries are chained from the digest of
 * their namespace, so that damage cannot move an outcome to another tenant.
 */
export const OUTBOX: FileFormat = {
  what: "outbox",
  // "qavs" in ASCII.
  applicationId: 0x71617673,
  migrations: [
    `
    CREATE TABLE waiting (
      id        INTEGER PRIMARY KEY AUTOINCREMENT,
      namespace BLOB    NOT NULL,
      entries   INTEGER NOT NULL,
      bytes     INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX waiting_bytes ON waiting (bytes);

    CREATE TABLE waiting_entry (
      waiting INTEGER NOT NULL,
      seq     INTEGER NOT NULL,
      key     BLOB    NOT NULL,
      type    BLOB    NOT NULL,
      at      REAL    NOT NULL,
      payload BLOB    NOT NULL,
      digest  BLOB    NOT NULL,
      PRIMARY KEY (waiting, seq)
    ) STRICT;
    `,
  ],
};

interface CommitRow {
  readonly id: number;
  readonly namespace: Uint8Array;
  readonly entries: number;
}

/** The SQL of the outbox. None of the methods opens a transaction. */
export interface OutboxTables {
  /** Number of waiting commits, and the bytes of their entries. */
  extent(): { readonly commits: number; readonly bytes: number };
  add(commit: QueuedCommit): void;
  read(after: number, limit: number): WaitingCommit[];
  remove(id: number): void;
}

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function outboxTables(db: DatabaseSync, path: string): OutboxTables {
  const extent = db.prepare("SELECT count(*) AS commits, coalesce(sum(bytes), 0) AS bytes FROM waiting");
  const addCommit = db.prepare("INSERT INTO waiting (namespace, entries, bytes) VALUES (?, ?, ?) RETURNING id");
  const addEntry = db.prepare(
    "INSERT INTO waiting_entry (waiting, seq, key, type, at, payload, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const commits = db.prepare("SELECT id, namespace, entries FROM waiting WHERE id > ? ORDER BY id LIMIT ?");
  const entries = db.prepare(
    "SELECT seq, key, type, at, payload, digest FROM waiting_entry WHERE waiting = ? ORDER BY seq",
  );
  const removals = ["waiting_entry WHERE waiting", "waiting WHERE id"].map((where) =>
    db.prepare(`DELETE FROM ${where} = ?`),
  );

  /** A damaged commit does not keep later ones from being read. */
  const toCommit = (row: CommitRow): WaitingCommit => {
    const { id } = row;
    let namespace = "";
    try {
      namespace = bytesToName(row.namespace);
      const rows = entries.all(id) as unknown as ChainedEntry[];
      const before = { seq: 0, digest: digests.first(namespace) };
      const corrupt = (seq: number): QavrError =>
        new QavrError("STORE_CORRUPT", `entry ${seq} or the namespace does not fit its digest`);
      const chained = chainedEntries(rows, before, row.entries, digests, corrupt);
      return {
        id,
        namespace,
        entries: chained.map(({ key, type, at, payload }) => ({ key, type, at, payload })),
      };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { id, namespace, entries: [], damage: `commit ${id} in the outbox ${path}: ${problem}` };
    }
  };

  return {
    extent: () => extent.get() as unknown as ReturnType<OutboxTables["extent"]>,

    add(commit) {
      const { namespace } = commit;
      const id = addCommit.get(nameToBytes(namespace), commit.entries.length, sizeOf(commit))?.id as number;
      const sequenced = commit.entries.map((entry, place) => ({
        ...entry,
        at: withoutNegativeZero(entry.at),
        seq: place + 1,
      }));
      for (const row of chainOn(digests.first(namespace), sequenced, digests)) {
        addEntry.run(id, row.seq, row.key, row.type, row.at, row.payload, row.digest);
      }
    },

    read: (after, limit) => (commits.all(after, limit) as unknown as CommitRow[]).map(toCommit),

    remove(id) {
      for (const removal of removals) removal.run(id);
    },
  };
}

/** Bytes that a commit counts for. */
export function sizeOf({ entries }: QueuedCommit): number {
  return entries.reduce((bytes, { key, payload }) => bytes + key.length + payload.length, 0);
}
