/** Which way a vector store's scores point. */
export type ScoreDirection = "similarity" | "distance";

/**
 * Direction of a store's scores at its default settings, by `_vectorstoreType()`. Stores with a direction that
 * follows a configured metric (Milvus, MyScale, Rockset, SingleStore, SAP HANA, Azure Cosmos DB, Vertex AI) are not listed.
 */
const DIRECTIONS: Readonly<Record<string, ScoreDirection>> = {
  analyticdb: "distance",
  chroma: "distance",
  clickhouse: "distance",
  couchbase_query: "distance",
  faiss: "distance",
  hnswlib: "distance",
  libsql: "distance",
  mariadb: "distance",
  "neon-postgres": "distance",
  prisma: "distance",
  redis: "distance",
  turbopuffer: "distance",
  typeorm: "distance",
  typesense: "distance",
  usearch: "distance",
  vercel: "distance",
  voi: "distance",
  weaviate: "distance",
  astradb: "similarity",
  azionEdgeSQL: "similarity",
  azure_aisearch: "similarity",
  cassandra: "similarity",
  closevector: "similarity",
  cloudflare_vectorize: "similarity",
  convex: "similarity",
  "couchbase-search": "similarity",
  elasticsearch: "similarity",
  memory: "similarity",
  momento: "similarity",
  mongodb_atlas: "similarity",
  neo4jvector: "similarity",
  opensearch: "similarity",
  pinecone: "similarity",
  qdrant: "similarity",
  supabase: "similarity",
  text_collection: "similarity",
  tigris: "similarity",
  upstash: "similarity",
  xata: "similarity",
  zep: "similarity",
};

/** Stores that do not promise best-first order, so that their first and last scores prove nothing. */
const UNORDERED: ReadonlySet<string> = new Set(["libsql"]);

/** The direction a store is known for; undefined for unknown stores and those that follow a metric. */
export function knownDirection(store: unknown): ScoreDirection | undefined {
  const type = storeType(store);
  if (type === undefined) return undefined;
  if (type === "pgvector") {
    // PGVector returns distances unless it is configured to normalise them.
    const normalisation = (store as { scoreNormalization?: unknown }).scoreNormalization;
    return normalisation === "similarity" ? "similarity" : "distance";
  }
  return Object.hasOwn(DIRECTIONS, type) ? DIRECTIONS[type] : undefined;
}

/** False for stores whose result lists may come in any order. */
export function isBestFirst(store: unknown): boolean {
  const type = storeType(store);
  return type === undefined || !UNORDERED.has(type);
}

function storeType(store: unknown): string | undefined {
  const named = store as { _vectorstoreType?: () => unknown } | null | undefined;
  if (typeof named?._vectorstoreType !== "function") return undefined;
  const type = named._vectorstoreType();
  return typeof type === "string" ? type : undefined;
}
