import type { DatabaseSync } from "node:sqlite";
import { bytesToName, nameToBytes } from "@qavr/core/store";
import type { FileFormat } from "@qavr/sqlite/file";
import { type CheckedMemory, type Searched, type StoredMemory, searchedText } from "./memory-record.js";
import { VECTOR_SCHEMA } from "./vector-tables.js";
import { wordsOf } from "./words.js";

/**
 * The format of a collection. Ids and texts are BLOBs of UTF-8: some versions of node:sqlite cut TEXT at a NUL when they read it.
 * `lexicon` holds the words of memories that are not archived, at row `n · ROOM + words`; each word begins with the number of its namespace,
 * so that a search reads one namespace only. A `scope` counts its texts in the lexicon and their words. `AUTOINCREMENT`: the number of a
 * deleted memory is never used again.
 */
export const MEMORIES: FileFormat = {
  what: "collection",
  // "qavm" in ASCII.
  applicationId: 0x7161766d,
  migrations: [
    `
    CREATE TABLE scope (
      id        INTEGER PRIMARY KEY,
      namespace BLOB    NOT NULL UNIQUE,
      texts     INTEGER NOT NULL DEFAULT 0,
      words     INTEGER NOT NULL DEFAULT 0
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

    CREATE VIRTUAL TABLE lexicon USING fts5(words, content='', contentless_delete=1, tokenize='ascii');
    CREATE VIRTUAL TABLE word_count USING fts5vocab(lexicon, row);
    CREATE VIRTUAL TABLE word_place USING fts5vocab(lexicon, instance);
    ${VECTOR_SCHEMA}`,
  ],
};

/**
 * Room for the number of a text's words in its row of the lexicon, `n · ROOM + words`: BM25 needs it for each text that it finds. Longer
 * texts count as ROOM − 1 words.
 */
export const ROOM = 4_096;

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
  /** Number of memories that are not archived, and of their words. */
  size(scope: number): { readonly texts: number; readonly words: number };
  find(scope: number, id: string): NumberedMemory | undefined;
  at(n: number): NumberedMemory | undefined;
  list(scope: number, query: ListQuery): NumberedMemory[];
  /** Numbers of memories that are not archived and pass a filter. */
  matching(scope: number, filter: string): Set<number>;
  /** Adds a memory, or replaces the known one with its id; an archived one is restored. Returns its number. */
  put(scope: number, memory: CheckedMemory, known: NumberedMemory | undefined, now: number): number;
  /** Replaces text and metadata. */
  change(memory: NumberedMemory, scope: number, text: string, metadata: string): void;
  archive(memory: NumberedMemory, scope: number, now: number): void;
  restore(memory: NumberedMemory, scope: number): void;
  remove(memory: NumberedMemory, scope: number): void;
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
const MATCHES_FILTER = `(
  SELECT count(*) FROM json_each(?) f JOIN json_each(r.metadata) m ON m.key = f.key AND m.type = f.type AND m.atom IS f.atom
) = (SELECT count(*) FROM json_each(?))`;

/** A word of a namespace as the lexicon has it. No word contains the sign between. */
export const termOf = (scope: number, word: string): string => `${scope}§${word}`;

/** Prepares every statement. @throws SQLite's error if a table is missing */
export function memoryTables(db: DatabaseSync): MemoryTables {
  const scopeOf = db.prepare("SELECT id FROM scope WHERE namespace = ?");
  const addScope = db.prepare("INSERT INTO scope (namespace) VALUES (?) RETURNING id");
  const size = db.prepare("SELECT texts, words FROM scope WHERE id = ?");
  const grow = db.prepare("UPDATE scope SET texts = texts + ?, words = words + ? WHERE id = ?");
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
  const insertWords = db.prepare("INSERT INTO lexicon (rowid, words) VALUES (?, ?)");
  const wordsAt = db.prepare("SELECT rowid AS place FROM lexicon WHERE rowid >= ? AND rowid < ?");
  const removeWords = db.prepare("DELETE FROM lexicon WHERE rowid = ?");

  const one = (row: unknown): NumberedMemory | undefined => (row ? toMemory(row as RecordRow) : undefined);
  const index = (n: number, scope: number, memory: Searched): void => {
    const words = wordsOf(searchedText(memory));
    const counted = Math.min(words.length, ROOM - 1);
    insertWords.run(n * ROOM + counted, words.map((word) => termOf(scope, word)).join(" "));
    grow.run(1, counted, scope);
  };
  /** Does nothing for an archived memory. */
  const unindex = (n: number, scope: number): void => {
    const place = wordsAt.get(n * ROOM, (n + 1) * ROOM)?.place as number | undefined;
    if (place === undefined) return;
    removeWords.run(place);
    grow.run(-1, -(place % ROOM), scope);
  };

  const tables: MemoryTables = {
    scope: (namespace) => scopeOf.get(nameToBytes(namespace))?.id as number | undefined,
    scopeFor: (namespace) => tables.scope(namespace) ?? Number(addScope.get(nameToBytes(namespace))?.id),
    size: (scope) => size.get(scope) as { texts: number; words: number },
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
        unindex(known.n, scope);
      }
      const n = known?.n ?? insert.get(scope, nameToBytes(id), text, query, metadata, createdAt)?.n;
      index(Number(n), scope, memory);
      return Number(n);
    },
    change({ n, query, createdAt, archivedAt }, scope, text, metadata) {
      update.run(...textsOf({ text, query }), metadata, createdAt, n);
      if (archivedAt !== undefined) setArchived.run(archivedAt, n);
      else {
        unindex(n, scope);
        index(n, scope, { text, query });
      }
    },
    archive({ n }, scope, now) {
      setArchived.run(now, n);
      unindex(n, scope);
    },
    restore(memory, scope) {
      setArchived.run(null, memory.n);
      index(memory.n, scope, memory);
    },
    remove({ n }, scope) {
      unindex(n, scope);
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
