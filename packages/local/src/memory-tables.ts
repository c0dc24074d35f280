import type { DatabaseSync } from "node:sqlite";
import { bytesToName, nameToBytes } from "@qavr/core/store";
import type { FileFormat } from "@qavr/sqlite/file";
import { type CheckedMemory, type Searched, type StoredMemory, searchedText } from "./memory-record.js";
import { VECTOR_SCHEMA } from "./vector-tables.js";
import { wordsOf } from "./words.js";

/**
 * The format of a collection. Ids and texts are BLOBs of UTF-8: some versions of node:sqlite cut TEXT at a NUL when they read it.
 * `lexicon` holds the words of memories that are not archived; its `scope` column has one word, that of the namespace, so that a search
 * reads one namespace only. `AUTOINCREMENT`: the number of a deleted memory is never used again.
 */
export const MEMORIES: FileFormat = {
  what: "collection",
  // "qavm" in ASCII.
  applicationId: 0x7161766d,
  migrations: [
    `
    CREATE TABLE scope (
      id        INTEGER PRIMARY KEY,
      namespace BLOB    NOT NULL UNIQUE
    ) STRICT;

    CREATE TABLE record (
      n           INTEGER PRIMARY KEY AUTOINCREMENT,
      scope       INTEGER NOT NULL,
      id          BLOB    NOT NULL,
      text        BLOB    NOT NULL,
      query       BLOB,
      metadata    TEXT    NOT NULL,
      created_at  REAL    NOT NULL,
      archived_at REAL,
      UNIQUE (scope, id)
    ) STRICT;

    CREATE INDEX record_place ON record (scope, archived_at IS NULL, n);

    CREATE VIRTUAL TABLE lexicon USING fts5(words, scope, content='', contentless_delete=1, tokenize='ascii');
    CREATE VIRTUAL TABLE word_use USING fts5vocab(lexicon, col);
    ${VECTOR_SCHEMA}`,
  ],
};

/** A memory with its number in the file. */
export interface NumberedMemory extends StoredMemory {
  readonly n: number;
}

/** One page of a list. */
export interface ListQuery {
  readonly after: number;
  readonly limit: number;
  readonly archived: boolean;
  /** JSON. */
  readonly filter: string | undefined;
}

/** The SQL of records. None of the methods opens a transaction. Writes keep the lexicon in step. */
export interface MemoryTables {
  /** The number of a namespace; undefined if nothing was added to it. */
  scope(namespace: string): number | undefined;
  /** The same; makes it if it is missing. */
  scopeFor(namespace: string): number;
  /** True if the file has more than one namespace. */
  hasScopes(): boolean;
  /** Number of memories that are not archived. */
  size(scope: number): number;
  find(scope: number, id: string): NumberedMemory | undefined;
  at(n: number): NumberedMemory | undefined;
  list(scope: number, query: ListQuery): NumberedMemory[];
  /** Numbers of memories that are not archived and pass a filter. */
  matching(scope: number, filter: string): Set<number>;
  /** Adds a memory, or replaces the known one with its id; an archived one is restored. Returns its number. */
  put(scope: number, memory: CheckedMemory, known: NumberedMemory | undefined, now: number): number;
  /** Replaces text and metadata. */
  change(memory: NumberedMemory, scope: number, text: string, metadata: string): void;
  archive(memory: NumberedMemory, now: number): void;
  restore(memory: NumberedMemory, scope: number): void;
  remove(memory: NumberedMemory): void;
}

interface RecordRow {
  readonly n: number;
  readonly id: Uint8Array;
  readonly text: Uint8Array;
  readonly query: Uint8Array | null;
  readonly metadata: string;
  readonly createdAt: number;
  readonly archivedAt: number | null;
}

const COLUMNS = "r.n, r.id, r.text, r.query, r.metadata, r.created_at AS createdAt, r.archived_at AS archivedAt";

/** True where a record has every value of a filter, which is bound twice, as JSON. */
export const MATCHES_FILTER = `(
  SELECT count(*) FROM json_each(?) f JOIN json_each(r.metadata) m ON m.key = f.key AND m.type = f.type AND m.atom IS f.atom
) = (SELECT count(*) FROM json_each(?))`;

/** The word of a namespace in the lexicon. */
export const scopeWord = (scope: number): string => `s${scope}`;

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function memoryTables(db: DatabaseSync): MemoryTables {
  const scopeOf = db.prepare("SELECT id FROM scope WHERE namespace = ?");
  const addScope = db.prepare("INSERT INTO scope (namespace) VALUES (?) RETURNING id");
  const lastScope = db.prepare("SELECT max(id) AS id FROM scope");
  const size = db.prepare("SELECT count(*) AS size FROM record WHERE scope = ? AND (archived_at IS NULL) = 1");
  const find = db.prepare(`SELECT ${COLUMNS} FROM record r WHERE scope = ? AND id = ?`);
  const at = db.prepare(`SELECT ${COLUMNS} FROM record r WHERE n = ?`);
  const page = `SELECT ${COLUMNS} FROM record r WHERE scope = ? AND (archived_at IS NULL) = ? AND n > ?`;
  const list = db.prepare(`${page} ORDER BY n LIMIT ?`);
  const listSome = db.prepare(`${page} AND ${MATCHES_FILTER} ORDER BY n LIMIT ?`);
  const matching = db.prepare(
    `SELECT n FROM record r WHERE scope = ? AND (archived_at IS NULL) = 1 AND ${MATCHES_FILTER}`,
  );
  const insert = db.prepare(
    "INSERT INTO record (scope, id, text, query, metadata, created_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING n",
  );
  const update = db.prepare(
    "UPDATE record SET text = ?, query = ?, metadata = ?, created_at = ?, archived_at = NULL WHERE n = ?",
  );
  const setArchived = db.prepare("UPDATE record SET archived_at = ? WHERE n = ?");
  const remove = db.prepare("DELETE FROM record WHERE n = ?");
  const index = db.prepare("INSERT INTO lexicon (rowid, words, scope) VALUES (?, ?, ?)");
  const unindex = db.prepare("DELETE FROM lexicon WHERE rowid = ?");

  const one = (row: unknown): NumberedMemory | undefined => (row ? toMemory(row as RecordRow) : undefined);
  const write = (n: number, scope: number, memory: Searched): void => {
    index.run(n, wordsOf(searchedText(memory)).join(" "), scopeWord(scope));
  };

  const tables: MemoryTables = {
    scope: (namespace) => scopeOf.get(nameToBytes(namespace))?.id as number | undefined,
    scopeFor: (namespace) => tables.scope(namespace) ?? Number(addScope.get(nameToBytes(namespace))?.id),
    hasScopes: () => Number(lastScope.get()?.id ?? 0) > 1,
    size: (scope) => Number(size.get(scope)?.size),
    find: (scope, id) => one(find.get(scope, nameToBytes(id))),
    at: (n) => one(at.get(n)),
    list(scope, { after, limit, archived, filter }) {
      const place = [scope, archived ? 0 : 1, after] as const;
      const rows = filter === undefined ? list.all(...place, limit) : listSome.all(...place, filter, filter, limit);
      return (rows as unknown as RecordRow[]).map(toMemory);
    },
    matching: (scope, filter) => new Set(matching.all(scope, filter, filter).map(({ n }) => Number(n))),
    put(scope, memory, known, now) {
      const { id, metadata, createdAt = known?.createdAt ?? now } = memory;
      const [text, query] = textsOf(memory);
      if (known) {
        update.run(text, query, metadata, createdAt, known.n);
        unindex.run(known.n);
      }
      const n = known?.n ?? insert.get(scope, nameToBytes(id), text, query, metadata, createdAt)?.n;
      write(Number(n), scope, memory);
      return Number(n);
    },
    change({ n, query, createdAt, archivedAt }, scope, text, metadata) {
      update.run(...textsOf({ text, query }), metadata, createdAt, n);
      if (archivedAt !== undefined) setArchived.run(archivedAt, n);
      else {
        unindex.run(n);
        write(n, scope, { text, query });
      }
    },
    archive({ n }, now) {
      setArchived.run(now, n);
      unindex.run(n);
    },
    restore(memory, scope) {
      setArchived.run(null, memory.n);
      write(memory.n, scope, memory);
    },
    remove({ n, archivedAt }) {
      if (archivedAt === undefined) unindex.run(n);
      remove.run(n);
    },
  };
  return tables;
}

function textsOf({ text, query }: Searched): [text: Uint8Array, query: Uint8Array | null] {
  return [nameToBytes(text), query === undefined ? null : nameToBytes(query)];
}

function toMemory({ n, id, text, query, metadata, createdAt, archivedAt }: RecordRow): NumberedMemory {
  return {
    n,
    id: bytesToName(id),
    text: bytesToName(text),
    ...(query === null ? {} : { query: bytesToName(query) }),
    metadata: JSON.parse(metadata) as StoredMemory["metadata"],
    createdAt,
    ...(archivedAt === null ? {} : { archivedAt }),
  };
}
