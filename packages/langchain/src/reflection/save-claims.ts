import { Document } from "@langchain/core/documents";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { hashedUuid } from "../document-ids.js";
import { unwrapHost } from "../qavr-vector-store.js";
import { isVectorStore, searchesByVector } from "../ranking/host.js";
import { isTextCollection, type TextCollection } from "../ranking/text-collection.js";
import { DEFAULT_NAMESPACE, SCOPE_KEYS } from "../runs/run-scope.js";

/** The text that a new memory is indexed by. */
export type ClaimIndex = "both" | "claim" | "query";

/** Destination of claims: a vector store, a collection, or a function. */
export type ClaimSink =
  | VectorStoreInterface
  | TextCollection
  | ((documents: Document<ClaimMetadata>[]) => Promise<unknown> | unknown);

/** Metadata of a memory from a reflection. */
export interface ClaimMetadata extends Record<string, unknown> {
  /** The task that led to it. */
  query: string;
  source: "reflection";
  /** The root run that it was learned in, where that has an id. */
  run_id?: string;
}

/**
 * Each claim as a memory of its own, with the query that led to it. Its id is a hash of namespace and claim in the form of
 * a UUID, so that a store which replaces by id keeps a claim once for each namespace.
 */
export function claimDocuments(
  claims: readonly string[],
  about: { readonly query: string; readonly runId?: string | undefined; readonly namespace: string },
): Document<ClaimMetadata>[] {
  const { query, runId, namespace } = about;
  const metadata = {
    query,
    source: "reflection" as const,
    [SCOPE_KEYS.namespace]: namespace,
    ...(runId === undefined ? {} : { run_id: runId }),
  };
  return claims.map(
    (claim) => new Document({ id: hashedUuid([namespace, claim]), pageContent: claim, metadata: { ...metadata } }),
  );
}

/**
 * Adds claims to their store. A memory is asked for in the words of a task as often as in its own, so it is indexed by both where
 * the store searches by vectors that we can give it, or is a collection; elsewhere by its text.
 *
 * @throws what the store throws
 */
export async function saveClaims(
  sink: ClaimSink,
  documents: Document<ClaimMetadata>[],
  indexBy: ClaimIndex,
): Promise<void> {
  if (documents.length === 0) return;
  if (!isVectorStore(sink)) {
    await (isTextCollection(sink) ? addTo(sink, documents, indexBy) : sink(documents));
    return;
  }
  const store = unwrapHost(sink, {}).host;
  const options = { ids: documents.map(({ id }) => id as string) };
  if (indexBy === "claim" || !searchesByVector(store)) {
    await store.addDocuments(documents, options);
    return;
  }
  const texts = documents.map(({ pageContent, metadata }) =>
    indexBy === "query" ? metadata.query : `${metadata.query}\n${pageContent}`,
  );
  await store.addVectors(await store.embeddings.embedDocuments(texts), documents, options);
}

/**
 * Adds claims to a collection. Where the collection keeps namespaces apart and is not one of them itself, each goes to that of its run,
 * so that no other agent finds it.
 */
async function addTo(
  collection: TextCollection,
  documents: Document<ClaimMetadata>[],
  indexBy: ClaimIndex,
): Promise<void> {
  const namespace = documents[0]?.metadata[SCOPE_KEYS.namespace] as string;
  const isNamed = (collection.namespace ?? DEFAULT_NAMESPACE) !== DEFAULT_NAMESPACE;
  const own = isNamed ? collection : (collection.of?.(namespace) ?? collection);
  await own.add?.(
    documents.map(({ id, pageContent: text, metadata: { query, ...metadata } }) => ({
      id: id as string,
      text,
      ...(indexBy === "claim" || query.trim() === "" ? {} : { query }),
      metadata: metadata as never,
    })),
  );
}
