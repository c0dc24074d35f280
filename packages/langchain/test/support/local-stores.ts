import { join } from "node:path";
import { LanceDB } from "@langchain/community/vectorstores/lancedb";
import { LibSQLVectorStore } from "@langchain/community/vectorstores/libsql";
import { type DistanceStrategy, PGVectorStore } from "@langchain/community/vectorstores/pgvector";
import { FakeVectorStore } from "@langchain/core/utils/testing";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { createClient } from "@libsql/client";
import { startVectorServer } from "@qavr/postgres-server";
import pg from "pg";
import { closing } from "../../../core/test/support/closing.js";
import { corpus, memoryVectorStore, TrigramEmbeddings } from "./corpus.js";
import { hnswInstalled, hnswStore } from "./hnsw-store.js";
import { tempFolder } from "./temp-folder.js";
import { usearchStore } from "./usearch-store.js";

/** A real vector store of this machine, filled with the corpus. */
export interface LocalStore {
  readonly name: string;
  /** The kind of its scores. */
  readonly scores: "similarity" | "distance" | "none";
  /** Origin of a document's id: the one that was added, the store's own, or a hash of the text. */
  readonly ids: "added" | "own" | "text";
  create(): Promise<VectorStoreInterface>;
}

export const LOCAL_STORES: readonly LocalStore[] = [
  ...(hnswInstalled ? [{ name: "HNSWLib", scores: "distance", ids: "added", create: hnswStore } as const] : []),
  { name: "MemoryVectorStore", scores: "similarity", ids: "added", create: memoryVectorStore },
  {
    name: "FakeVectorStore",
    scores: "similarity",
    ids: "text",
    create: () => FakeVectorStore.fromDocuments(corpus(), new TrigramEmbeddings()),
  },
  { name: "LibSQL", scores: "distance", ids: "own", create: libsqlStore },
  {
    name: "USearch",
    scores: "distance",
    ids: "added",
    create: usearchStore,
  },
  { name: "LanceDB", scores: "none", ids: "text", create: lanceStore },
  ...(["cosine", "innerProduct", "euclidean"] as const).flatMap((strategy): LocalStore[] => [
    pgvector(strategy, "distance"),
    pgvector(strategy, "similarity"),
  ]),
];

/**
 * LibSQL's vector search wants an index of its own, in a file: an in-memory database loses it between two statements. Each search
 * enters the index's graph at a node drawn by chance, and with the usual density two parts of it may lose sight of each other when
 * rows are deleted: one search in fifty then finds two documents instead of five. With `alpha=10` no edges are pruned.
 */
async function libsqlStore(): Promise<LibSQLVectorStore> {
  const db = closing(createClient({ url: `file:${join(tempFolder(), "vectors.db")}` }));
  await db.batch([
    "CREATE TABLE vectors (content TEXT, metadata JSON, embedding F32_BLOB(64))",
    "CREATE INDEX idx_vectors_embedding ON vectors (libsql_vector_idx(embedding, 'alpha=10'))",
  ]);
  const store = new LibSQLVectorStore(new TrigramEmbeddings(), { db });
  await store.addDocuments(corpus());
  return store;
}

function lanceStore(): Promise<LanceDB> {
  return LanceDB.fromDocuments(corpus(), new TrigramEmbeddings(), { uri: tempFolder() });
}

/** One connection for all stores of a test worker: the server, which ends with the worker, serves its clients in turns. */
let database: Promise<pg.Pool> | undefined;
let tables = 0;

async function openDatabase(): Promise<pg.Pool> {
  const server = await startVectorServer();
  return new pg.Pool({ connectionString: server.url(), max: 1 });
}

function pgvector(distanceStrategy: DistanceStrategy, scoreNormalization: "distance" | "similarity"): LocalStore {
  return {
    name: `PGVector (${distanceStrategy}, ${scoreNormalization})`,
    scores: scoreNormalization,
    ids: "added",
    async create() {
      database ??= openDatabase();
      const pool = await database;
      tables += 1;
      const tableName = `vectors_${tables}`;
      // The table that the store would make takes nothing but UUIDs for ids, and draws them at random.
      await pool.query(`CREATE SEQUENCE ${tableName}_rows; CREATE TABLE ${tableName} (
        id text PRIMARY KEY DEFAULT 'row-' || nextval('${tableName}_rows'),
        text text, metadata jsonb, embedding vector(64)
      )`);
      const store = new PGVectorStore(new TrigramEmbeddings(), {
        pool,
        tableName,
        distanceStrategy,
        scoreNormalization,
      });
      const documents = corpus();
      await store.addDocuments(documents, { ids: documents.map(({ id }) => id as string) });
      return store;
    },
  };
}
