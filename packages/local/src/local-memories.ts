import { QavrError } from "@qavr/core";
import { assertName, type FieldRule, illegalOption, resolveOptions, SWITCH, whole } from "@qavr/core/store";
import { loadSqlite, openSqliteFile, type SqliteFile } from "@qavr/sqlite/file";
import { type LexicalSearch, lexicalSearch } from "./lexical-search.js";
import { type LocalMemoriesOptions, resolveLocalOptions } from "./local-options.js";
import {
  type CheckedMemory,
  checkedChange,
  checkedFilter,
  checkedIds,
  checkedMemory,
  type MemoryChange,
  type MemoryFilter,
  type NewMemory,
  type StoredMemory,
} from "./memory-record.js";
import { MEMORIES, type MemoryTables, memoryTables, type NumberedMemory } from "./memory-tables.js";

/** Options of adding many memories. */
export interface AddOptions {
  /** Called after each part that is durable. */
  readonly onProgress?: ((added: number, total: number) => void) | undefined;
}

/** A search in a collection. Other fields are ignored, so that a framework may pass its own query. */
export interface LocalQuery {
  readonly text: string;
  /** The most memories to return, 1 to 1,000. @default 10 */
  readonly limit?: number | undefined;
  readonly filter?: MemoryFilter | undefined;
}

/** A memory that a search found. */
export interface LocalHit extends StoredMemory {
  /** In [0, 1], higher is better, on one scale for all searches: the share of the request that the text covers. */
  readonly similarity: number;
}

/** A page of a collection. */
export interface ListOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Memories per page, 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
  readonly filter?: MemoryFilter | undefined;
  /** True lists the archived memories instead. @default false */
  readonly archived?: boolean | undefined;
}

/**
 * A collection of memories in one SQLite file. It plugs into `memory.retriever()`, `memory.vectorStore()` and `memory.recall()` of
 * `@qavr/langchain` and into `qavr.collections` of `@qavr/mastra` as it is.
 *
 * All methods reject with STORE_CLOSED after `close()`, and with STORE_CORRUPT, STORE_BUSY, STORE_UNWRITABLE, STORE_UNAVAILABLE or
 * STORE_FAILED when the file cannot be used. A write resolves when it is durable.
 */
export interface LocalMemories {
  /** Name of the collection in the ledger. */
  readonly name: string;
  /** Whose memories these are. */
  readonly namespace: string;
  /** The memories of another namespace in the same file. No call on one sees the memories of another. @throws INVALID_ID, LIMIT_EXCEEDED */
  of(namespace: string): LocalMemories;

  /**
   * Adds memories, or replaces those with the same id; an archived one is restored. Many are added in parts of some hundred: each part is
   * durable as a whole, and the event loop runs between them. After a failure the parts before it are kept; adding again is safe.
   *
   * @returns their ids, in order
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED before anything is written
   */
  add(memories: string | NewMemory | readonly (string | NewMemory)[], options?: AddOptions): Promise<string[]>;
  /** Undefined for an unknown id; archived memories are returned too. @throws INVALID_ID, LIMIT_EXCEEDED */
  get(id: string): Promise<StoredMemory | undefined>;
  /** A page, in the order in which memories were first added. `next` is absent after the last page. @throws INVALID_ARGUMENT */
  list(options?: ListOptions): Promise<{ readonly memories: readonly StoredMemory[]; readonly next?: string }>;
  /** Replaces the text, the metadata or both. Returns undefined for an unknown id. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  update(id: string, change: MemoryChange): Promise<StoredMemory | undefined>;
  /** Returns the number of deleted memories; unknown ids are ignored. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  delete(ids: string | readonly string[]): Promise<number>;
  /**
   * Takes memories out of searches and lists without losing them; {@link LocalMemories.restore} undoes it. Returns the number of memories
   * that changed. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
   */
  archive(ids: string | readonly string[]): Promise<number>;
  /** Undoes an archiving. Returns the number of memories that changed. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  restore(ids: string | readonly string[]): Promise<number>;
  /** The best matches, best first. @throws INVALID_ARGUMENT */
  search(query: LocalQuery): Promise<LocalHit[]>;
  /** Number of memories that are not archived. */
  size(): Promise<number>;
  /** Closes the file for all namespaces, after the writes that wait. */
  close(): Promise<void>;
}

/** Memories that one transaction adds: about 10 ms of work. */
const PART = 256;

const FUNCTION: FieldRule = [(value) => value === undefined || typeof value === "function", "a function"];
const UNCHECKED: FieldRule = [() => true, ""];
const QUERY: Readonly<Record<keyof LocalQuery, FieldRule>> = {
  text: [(value) => typeof value === "string", "a string"],
  limit: whole(1, 1_000),
  filter: UNCHECKED,
};
const LIST: Readonly<Record<keyof ListOptions, FieldRule>> = {
  after: [(value) => typeof value === "string" && /^\d{1,15}$/.test(value), "the next of a page"],
  limit: whole(1, 1_000),
  filter: UNCHECKED,
  archived: SWITCH,
};

/** What the handles of all namespaces share. */
interface Collection {
  readonly name: string;
  readonly file: SqliteFile<{ readonly records: MemoryTables; readonly lexical: LexicalSearch }>;
}

/**
 * Opens or creates a collection of memories. Several processes may use one file at once.
 *
 * @throws INVALID_ARGUMENT; STORE_UNAVAILABLE on Node before 22.16, whose SQLite has no full-text search; STORE_UNWRITABLE, STORE_FOREIGN,
 *   STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_FAILED
 * @example
 * const notes = localMemories();
 * await notes.add("On EACCES, fix the permissions of the deploy folder.");
 * const retriever = qavr().retriever(notes);
 */
export function localMemories(options: LocalMemoriesOptions = {}): LocalMemories {
  const { name, path } = resolveLocalOptions(options);
  assertFullTextSearch();
  const file = openSqliteFile(path, MEMORIES, (db) => {
    const records = memoryTables(db);
    return { records, lexical: lexicalSearch(db, records) };
  });
  return namespaceOf({ name, file }, "default");
}

function namespaceOf(collection: Collection, namespace: string): LocalMemories {
  const { name, file } = collection;

  /** Runs `work` on the memories with these ids, and counts those that it changed. */
  const each = async (
    ids: string | readonly string[],
    work: (records: MemoryTables, memory: NumberedMemory, scope: number) => boolean,
  ): Promise<number> => {
    const list = checkedIds(ids);
    return file.write(({ records, lexical }) => {
      const scope = records.scope(namespace);
      if (scope === undefined) return 0;
      lexical.changed();
      return list.filter((id) => {
        const memory = records.find(scope, id);
        return memory !== undefined && work(records, memory, scope);
      }).length;
    });
  };
  const addPart = (part: readonly CheckedMemory[]): Promise<void> =>
    file.write(({ records, lexical }) => {
      const scope = records.scopeFor(namespace);
      const now = Date.now();
      lexical.changed();
      for (const memory of part) records.put(scope, memory, now);
    });

  return {
    name,
    namespace,
    of(other) {
      assertName(other, "namespace");
      return namespaceOf(collection, other);
    },

    async add(memories, options = {}) {
      const { onProgress } = resolveOptions("add()", options, {}, { onProgress: FUNCTION });
      const list = (Array.isArray(memories) ? memories : [memories]) as readonly (string | NewMemory)[];
      const checked = list.map(checkedMemory);
      for (let start = 0; start < checked.length; start += PART) {
        const part = checked.slice(start, start + PART);
        await addPart(part);
        onProgress?.(start + part.length, checked.length);
      }
      return checked.map(({ id }) => id);
    },

    async get(id) {
      assertName(id, "memory id");
      return file.read(({ records }) => {
        const scope = records.scope(namespace);
        const memory = scope === undefined ? undefined : records.find(scope, id);
        return memory && stored(memory);
      });
    },

    async list(options = {}) {
      const defaults = { after: "0", limit: 100, archived: false };
      const { after, limit, archived, filter } = resolveOptions("list()", options, defaults, LIST);
      const where = checkedFilter(filter);
      return file.read(({ records }) => {
        const scope = records.scope(namespace);
        if (scope === undefined) return { memories: [] };
        // One more tells whether there is a next page.
        const found = records.list(scope, { after: Number(after), limit: limit + 1, archived, filter: where });
        const memories = found.slice(0, limit);
        return {
          memories: memories.map(stored),
          ...(found.length > limit ? { next: String(memories.at(-1)?.n) } : {}),
        };
      });
    },

    async update(id, change) {
      assertName(id, "memory id");
      const { text, metadata } = checkedChange(change);
      return file.write(({ records, lexical }) => {
        const scope = records.scope(namespace);
        const memory = scope === undefined ? undefined : records.find(scope, id);
        if (scope === undefined || memory === undefined) return undefined;
        lexical.changed();
        records.change(memory, scope, text ?? memory.text, metadata ?? JSON.stringify(memory.metadata));
        return stored(records.find(scope, id) as NumberedMemory);
      });
    },

    delete: (ids) =>
      each(ids, (records, memory) => {
        records.remove(memory);
        return true;
      }),

    archive: (ids) =>
      each(ids, (records, memory) => {
        if (memory.archivedAt !== undefined) return false;
        records.archive(memory, Date.now());
        return true;
      }),

    restore: (ids) =>
      each(ids, (records, memory, scope) => {
        if (memory.archivedAt === undefined) return false;
        records.restore(memory, scope);
        return true;
      }),

    async search(query) {
      const { text, limit, filter } = checkedQuery(query);
      const where = checkedFilter(filter);
      return file.read(({ records, lexical }) => {
        const scope = records.scope(namespace);
        if (scope === undefined) return [];
        return lexical.search(scope, text, limit, where).map(({ n, similarity }) => ({
          ...stored(records.at(n) as NumberedMemory),
          similarity,
        }));
      });
    },

    size: async () =>
      file.read(({ records }) => {
        const scope = records.scope(namespace);
        return scope === undefined ? 0 : records.size(scope);
      }),

    close: () => file.close(),
  };
}

/** @throws INVALID_ARGUMENT */
function checkedQuery(query: LocalQuery): {
  readonly text: string;
  readonly limit: number;
  readonly filter?: MemoryFilter;
} {
  if (typeof query !== "object" || query === null) {
    throw illegalOption("query", "search() needs { text, limit }", query);
  }
  const { text, limit, filter } = query;
  return resolveOptions("search()", { text, limit, filter } as LocalQuery, { limit: 10 }, QUERY) as ReturnType<
    typeof checkedQuery
  >;
}

function stored({ n: _, ...memory }: NumberedMemory): StoredMemory {
  return memory;
}

/** @throws STORE_UNAVAILABLE on a runtime whose SQLite has no FTS5 */
function assertFullTextSearch(): void {
  const { DatabaseSync } = loadSqlite("22.16");
  const db = new DatabaseSync(":memory:");
  try {
    db.exec("CREATE VIRTUAL TABLE probe USING fts5(words)");
  } catch (cause) {
    throw new QavrError(
      "STORE_UNAVAILABLE",
      `The SQLite of Node ${process.version} has no full-text search. @qavr/local needs Node 22.16 or newer.`,
      { details: { node: process.version }, cause },
    );
  } finally {
    db.close();
  }
}
