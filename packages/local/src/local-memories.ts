import { QavrError } from "@qavr/core";
import { createLog } from "@qavr/core/adapter";
import { assertName, type FieldRule, illegalOption, resolveOptions, SWITCH, whole } from "@qavr/core/store";
import { loadSqlite, openSqliteFile, type SqliteFile } from "@qavr/sqlite/file";
import { bestOfBoth, type Hit } from "./hits.js";
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
  searchedText,
} from "./memory-record.js";
import { MEMORIES, type MemoryTables, memoryTables, type NumberedMemory } from "./memory-tables.js";
import { type VectorSearch, vectorSearch } from "./vector-search.js";
import { type VectorTables, vectorTables } from "./vector-tables.js";

/** Options of calls that work in parts. */
export interface ProgressOptions {
  /** Called after each part that is durable. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
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
  /**
   * In [0, 1], higher is better, on one scale for all searches. It rises with the share of the request's words in the text (rare words
   * count more) and with their repetition: a text of average length that has each word once gets 0.45. With an embedding model, the mean of
   * that and of the cosine.
   */
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
   * Adds memories, or replaces those with the same id; an archived one is restored. A long list is added in parts of 256: each part is
   * durable as a whole, and the event loop runs between them. After a failure the parts before it are kept; adding again is safe.
   *
   * With an embedding model, texts that have no vector yet are embedded; while the model fails they are kept without a vector, and
   * {@link LocalMemories.reembed} makes it later.
   *
   * @returns their ids, in order
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED before anything is written; EMBEDDING_MISMATCH
   */
  add(memories: string | NewMemory | readonly (string | NewMemory)[], options?: ProgressOptions): Promise<string[]>;
  /** Undefined for an unknown id; archived memories are returned too. @throws INVALID_ID, LIMIT_EXCEEDED */
  get(id: string): Promise<StoredMemory | undefined>;
  /** A page, in the order in which memories were first added. `next` is absent after the last page. @throws INVALID_ARGUMENT */
  list(options?: ListOptions): Promise<{ readonly memories: readonly StoredMemory[]; readonly next?: string }>;
  /** Replaces the text, the metadata or both. Returns undefined for an unknown id. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, EMBEDDING_MISMATCH */
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
  /** The best matches, best first; by words only while the embedding model fails. @throws INVALID_ARGUMENT, EMBEDDING_MISMATCH, LIMIT_EXCEEDED for vectors of more than 4 GB */
  search(query: LocalQuery): Promise<LocalHit[]>;
  /**
   * Makes the vectors that are missing, in all namespaces; after a change of model, all of them. Until it has ended, searches use the old
   * ones. Evidence in the ledger is kept by id, so nothing that was learned is lost. Returns their number.
   *
   * @throws INVALID_ARGUMENT without an embedding model, and the model's error; what was made until then is kept. A text that the model
   * refuses, such as too long a text, does not keep others from their vectors: the error comes at the end
   */
  reembed(options?: ProgressOptions): Promise<number>;
  /** Number of memories that are not archived. */
  size(): Promise<number>;
  /** Closes the file for all namespaces, after the writes that wait. */
  close(): Promise<void>;
}

/** Memories that one transaction adds: about 10 ms of work. */
const PART = 256;

/** Least number of texts that a hybrid search takes from the search by words. */
const BY_WORDS = 100;

const PROGRESS: Readonly<Record<keyof ProgressOptions, FieldRule>> = {
  onProgress: [(value) => typeof value === "function", "a function"],
};
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

/** Parts that the handles of all namespaces share. */
interface Collection {
  readonly name: string;
  readonly file: SqliteFile<Tables>;
  /** Undefined without an embedding model. */
  readonly meaning: VectorSearch | undefined;
}

interface Tables {
  readonly records: MemoryTables;
  readonly vectors: VectorTables;
  readonly lexical: LexicalSearch;
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
  const { name, path, embed, logger } = resolveLocalOptions(options);
  assertFullTextSearch();
  const file = openSqliteFile(path, MEMORIES, (db): Tables => {
    const records = memoryTables(db);
    return { records, vectors: vectorTables(db), lexical: lexicalSearch(db, records) };
  });
  const meaning = embed && vectorSearch(file, embed, createLog(logger, ["EMBEDDING_FAILED"]));
  return namespaceOf({ name, file, meaning }, "default");
}

function namespaceOf(collection: Collection, namespace: string): LocalMemories {
  const { name, file, meaning } = collection;

  /** Reads from this namespace; `none` where nothing was added to it. */
  const read = <Result>(none: Result, work: (tables: Tables, scope: number) => Result): Result =>
    file.read((tables) => {
      const scope = tables.records.scope(namespace);
      return scope === undefined ? none : work(tables, scope);
    });
  /** Runs `work` on the memories with these ids, and counts those that it changed. */
  const each = async (
    ids: string | readonly string[],
    work: (tables: Tables, memory: NumberedMemory, scope: number) => boolean,
  ): Promise<number> => {
    const list = checkedIds(ids);
    return file.write((tables) => {
      const scope = tables.records.scope(namespace);
      if (scope === undefined) return 0;
      return list.filter((id) => {
        const memory = tables.records.find(scope, id);
        return memory !== undefined && work(tables, memory, scope);
      }).length;
    });
  };
  /** Texts of a part that have no vector yet: adding the same memories at each start embeds them once. */
  const unembedded = (part: readonly CheckedMemory[]): Set<string> =>
    read(new Set(part.map(searchedText)), ({ records, vectors }, scope) => {
      const space = vectors.space();
      const isEmbedded = (memory: CheckedMemory): boolean => {
        if (space === undefined) return false;
        const known = records.find(scope, memory.id);
        if (known === undefined || !vectors.has(known.n, space)) return false;
        // Another text under this id takes the vector away before this one is written.
        return [known, ...part.filter(({ id }) => id === memory.id)].every(
          (other) => searchedText(other) === searchedText(memory),
        );
      };
      return new Set(part.filter((memory) => !isEmbedded(memory)).map(searchedText));
    });
  /** Writes texts with their vectors. `write` gets a function that stores the vector of a text, and runs again where the space changed. */
  const writeEmbedded = async <Result>(
    texts: ReadonlySet<string>,
    write: (tables: Tables, embed: (n: number, text: string) => void) => Result,
  ): Promise<Result> => {
    for (;;) {
      const list = [...texts];
      const embedded = await meaning?.embed(list);
      const made = list.length > 0 ? embedded : undefined;
      const vectorOf = new Map(list.map((text, i) => [text, made?.vectors[i]]));
      const done = await file.write((tables) => {
        const space = made && meaning?.spaceFor(made, tables.vectors);
        if (made && space === undefined) return undefined;
        return {
          result: write(tables, (n, text) => {
            const vector = vectorOf.get(text);
            if (vector && space !== undefined) tables.vectors.put(n, space, vector);
          }),
        };
      });
      if (done) return done.result;
    }
  };
  const addPart = (part: readonly CheckedMemory[]): Promise<void> =>
    writeEmbedded(meaning ? unembedded(part) : new Set(), ({ records, vectors }, embed) => {
      const scope = records.scopeFor(namespace);
      const now = Date.now();
      for (const memory of part) {
        const known = records.find(scope, memory.id);
        const text = searchedText(memory);
        if (known && searchedText(known) !== text) vectors.remove(known.n);
        else if (known?.archivedAt !== undefined) vectors.renew(known.n);
        embed(records.put(scope, memory, known, now), text);
      }
    });

  return {
    name,
    namespace,
    of(other) {
      assertName(other, "namespace");
      return namespaceOf(collection, other);
    },

    async add(memories, options = {}) {
      const { onProgress } = resolveOptions("add()", options, {}, PROGRESS);
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
      return read(undefined, ({ records }, scope) => {
        const memory = records.find(scope, id);
        return memory && stored(memory);
      });
    },

    async list(options = {}) {
      const defaults = { after: "0", limit: 100, archived: false };
      const { after, limit, archived, filter } = resolveOptions("list()", options, defaults, LIST);
      const where = checkedFilter(filter);
      return read({ memories: [] }, ({ records }, scope) => {
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
      const before = read(undefined, ({ records }, scope) => records.find(scope, id));
      const isEdit = text !== undefined && before !== undefined && before.text !== text;
      return writeEmbedded(
        new Set(meaning && isEdit ? [searchedText({ ...before, text })] : []),
        ({ records, vectors }, embed) => {
          const scope = records.scope(namespace);
          const memory = scope === undefined ? undefined : records.find(scope, id);
          if (scope === undefined || memory === undefined) return undefined;
          const newText = text ?? memory.text;
          if (newText !== memory.text) vectors.remove(memory.n);
          records.change(memory, scope, newText, metadata ?? JSON.stringify(memory.metadata));
          embed(memory.n, searchedText({ ...memory, text: newText }));
          return stored(records.find(scope, id) as NumberedMemory);
        },
      );
    },

    delete: (ids) =>
      each(ids, ({ records, vectors }, memory, scope) => {
        records.remove(memory, scope);
        vectors.remove(memory.n);
        return true;
      }),

    archive: (ids) =>
      each(ids, ({ records }, memory, scope) => {
        if (memory.archivedAt !== undefined) return false;
        records.archive(memory, scope, Date.now());
        return true;
      }),

    restore: (ids) =>
      each(ids, ({ records, vectors }, memory, scope) => {
        if (memory.archivedAt === undefined) return false;
        records.restore(memory, scope);
        vectors.renew(memory.n);
        return true;
      }),

    async search(query) {
      const { text, limit, filter } = checkedQuery(query);
      const where = checkedFilter(filter);
      const request = text.trim() === "" ? undefined : await meaning?.request(text);
      return read([] as LocalHit[], ({ records, lexical, vectors }, scope) => {
        const allowed = where === undefined ? undefined : records.matching(scope, where);
        const byWords = (most: number): Hit[] => lexical.search(scope, text, most, allowed);
        const near = request && meaning?.nearest(request, vectors, scope, limit, allowed);
        const words = byWords(near ? Math.max(limit, BY_WORDS) : limit);
        const best = (): Hit[] => (near ? bestOfBoth(near.found, words, near.cosineOf, limit) : words);
        let hits = best();
        if (near?.forgets(hits.map(({ n }) => n))) hits = best();
        return hits.map(({ n, similarity }) => ({ ...stored(records.at(n) as NumberedMemory), similarity }));
      });
    },

    async reembed(options = {}) {
      const { onProgress } = resolveOptions("reembed()", options, {}, PROGRESS);
      if (meaning) return meaning.reembed(onProgress);
      throw new QavrError("INVALID_ARGUMENT", "reembed() needs an embedding model: localMemories({ embed }).");
    },

    size: async () => read(0, ({ records }, scope) => records.size(scope).texts),

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
  return resolveOptions("search()", { text, limit, filter } as LocalQuery, { limit: 10 }, QUERY, [
    "text",
  ]) as ReturnType<typeof checkedQuery>;
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
