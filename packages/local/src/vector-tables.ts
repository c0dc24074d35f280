import type { DatabaseSync } from "node:sqlite";
import { bytesToName } from "@qavr/core/store";
import { searchedText } from "./memory-record.js";

/** SQL of the vectors' tables. A space is the work of one embedding model; searches use the current one. */
export const VECTOR_SCHEMA = `
    CREATE TABLE space (
      id      INTEGER PRIMARY KEY AUTOINCREMENT,
      current INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE vector (
      id     INTEGER PRIMARY KEY AUTOINCREMENT,
      record INTEGER NOT NULL,
      space  INTEGER NOT NULL,
      value  BLOB    NOT NULL,
      UNIQUE (record, space)
    ) STRICT;
`;

/** A stored vector. */
export interface StoredVector {
  readonly id: number;
  readonly record: number;
  readonly scope: number;
  readonly values: Float32Array;
}

/** The SQL of vectors. None of the methods opens a transaction. The number of a vector grows with each write. */
export interface VectorTables {
  /** The current space; undefined while there are no vectors. */
  space(): number | undefined;
  /** The newest space with vectors that is not the current one: a change of model that has not ended. Undefined without one. */
  begun(): number | undefined;
  addSpace(current: boolean): number;
  /** Makes a space the current one. */
  setSpace(space: number): void;
  /** Deletes up to `limit` vectors of other spaces than these; returns the number of deleted ones. */
  prune(spaces: readonly number[], limit: number): number;
  has(record: number, space: number): boolean;
  put(record: number, space: number, values: Float32Array): void;
  /** Deletes the vectors of a record. */
  remove(record: number): void;
  /** Gives the vectors of a restored record new numbers, by which open collections find them. */
  renew(record: number): void;
  /** Vectors of memories that are not archived, in the order of their numbers. */
  after(id: number, space: number, limit: number): StoredVector[];
  /** Numbers of all of them. */
  ids(space: number): Set<number>;
  isLive(id: number): boolean;
  /** The oldest vector and its text; not one of zeros, which tells no model from another, unless there is no other. */
  oldest(space: number): { readonly text: string; readonly values: Float32Array } | undefined;
  /** Records without a vector in a space, archived ones too. */
  missing(space: number, limit: number): { readonly n: number; readonly text: string }[];
  countMissing(space: number): number;
}

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function vectorTables(db: DatabaseSync): VectorTables {
  const space = db.prepare("SELECT id FROM space WHERE current = 1");
  const begun = db.prepare(
    "SELECT id FROM space s WHERE current = 0 AND EXISTS (SELECT 1 FROM vector v WHERE v.space = s.id) ORDER BY id DESC LIMIT 1",
  );
  const addSpace = db.prepare("INSERT INTO space (current) VALUES (?) RETURNING id");
  const setSpace = db.prepare("UPDATE space SET current = (id = ?)");
  const prune = db.prepare(
    "DELETE FROM vector WHERE id IN (SELECT id FROM vector WHERE space NOT IN (SELECT value FROM json_each(?)) LIMIT ?)",
  );
  const has = db.prepare("SELECT 1 FROM vector WHERE record = ? AND space = ?");
  const removeOne = db.prepare("DELETE FROM vector WHERE record = ? AND space = ?");
  const put = db.prepare("INSERT INTO vector (record, space, value) VALUES (?, ?, ?)");
  const remove = db.prepare("DELETE FROM vector WHERE record = ?");
  const all = db.prepare("SELECT space, value FROM vector WHERE record = ?");
  const live = "FROM vector v JOIN record r ON r.n = v.record WHERE r.archived_at IS NULL";
  const after = db.prepare(
    `SELECT v.id, v.record, r.scope, v.value ${live} AND v.id > ? AND v.space = ? ORDER BY v.id LIMIT ?`,
  );
  const ids = db.prepare(`SELECT v.id ${live} AND v.space = ?`);
  const isLive = db.prepare(`SELECT 1 ${live} AND v.id = ?`);
  const oldest = db.prepare(
    "SELECT r.text, r.query, v.value FROM vector v JOIN record r ON r.n = v.record WHERE v.space = ? AND (v.value <> zeroblob(length(v.value))) >= ? ORDER BY v.id LIMIT 1",
  );
  const lacking = "FROM record r WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.record = r.n AND v.space = ?)";
  const missing = db.prepare(`SELECT n, text, query ${lacking} ORDER BY n LIMIT ?`);
  const countMissing = db.prepare(`SELECT count(*) AS missing ${lacking}`);

  return {
    space: () => space.get()?.id as number | undefined,
    begun: () => begun.get()?.id as number | undefined,
    addSpace: (current) => Number(addSpace.get(current ? 1 : 0)?.id),
    setSpace: (id) => void setSpace.run(id),
    prune: (spaces, limit) => Number(prune.run(JSON.stringify(spaces), limit).changes),
    has: (record, id) => has.get(record, id) !== undefined,
    put(record, id, values) {
      removeOne.run(record, id);
      put.run(record, id, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    },
    remove: (record) => void remove.run(record),
    renew(record) {
      const rows = all.all(record) as unknown as { space: number; value: Uint8Array }[];
      remove.run(record);
      for (const row of rows) put.run(record, row.space, row.value);
    },
    after: (id, own, limit) =>
      (after.all(id, own, limit) as unknown as { id: number; record: number; scope: number; value: Uint8Array }[]).map(
        ({ value, ...row }) => ({ ...row, values: toFloats(value) }),
      ),
    ids: (own) => new Set(ids.all(own).map((row) => Number(row.id))),
    isLive: (id) => isLive.get(id) !== undefined,
    oldest(own) {
      const row = (oldest.get(own, 1) ?? oldest.get(own, 0)) as (TextRow & { value: Uint8Array }) | undefined;
      return row && { text: textIn(row), values: toFloats(row.value) };
    },
    missing: (own, limit) =>
      (missing.all(own, limit) as unknown as (TextRow & { n: number })[]).map((row) => ({
        n: row.n,
        text: textIn(row),
      })),
    countMissing: (own) => Number(countMissing.get(own)?.missing),
  };
}

interface TextRow {
  readonly text: Uint8Array;
  readonly query: Uint8Array | null;
}

function textIn({ text, query }: TextRow): string {
  return searchedText({ text: bytesToName(text), query: query === null ? undefined : bytesToName(query) });
}

/** A copy, since the bytes need not begin at a multiple of four. */
function toFloats(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
