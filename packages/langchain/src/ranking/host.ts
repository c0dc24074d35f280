import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import type { BaseRetrieverInterface } from "@langchain/core/retrievers";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { QavrError } from "@qavr/core";
import { isTextCollection, type TextCollection } from "./text-collection.js";

/** A source of documents in LangChain. */
export type Host = VectorStoreInterface | BaseRetrieverInterface;

/** Anything that can be asked for documents. */
export type Base = Host | TextCollection;

/** Documents of a host, best first and, where it gives them, their raw scores and the query vector. */
export interface Found {
  readonly documents: readonly DocumentInterface[];
  readonly scores?: readonly (number | undefined)[];
  readonly vector?: readonly number[];
}

/** One question to a vector store. */
export interface HostQuery {
  readonly text: string;
  /** How many will be returned. */
  readonly k: number;
  /** The caller's own number, which may be undefined: a store with a search of its own may have a default of its own. */
  readonly asked?: number | undefined;
  /** How many to ask for, at least `k`. */
  readonly fetchK: number;
  /** True to ask exactly as the store's own retriever would. */
  readonly asHost: boolean;
  readonly filter: unknown;
  readonly callbacks: Callbacks | undefined;
}

/** True for anything that offers the vector stores' text search. */
export function isVectorStore(base: unknown): base is VectorStoreInterface {
  const store = base as Partial<VectorStoreInterface> | null | undefined;
  return typeof store?.similaritySearch === "function" && typeof store.similaritySearchWithScore === "function";
}

/** True for a vector store, a retriever or a collection. */
export function isBase(base: unknown): base is Base {
  const isRetriever = typeof (base as { invoke?: unknown } | null | undefined)?.invoke === "function";
  return isRetriever || isVectorStore(base) || isTextCollection(base);
}

/** @throws INVALID_ARGUMENT for anything else */
export function assertBase(base: unknown): asserts base is Base {
  if (isBase(base)) return;
  throw new QavrError(
    "INVALID_ARGUMENT",
    "The wrapped object must be a vector store (similaritySearchWithScore), a retriever (invoke) or a collection (name and search). Pass the store itself.",
    { details: { received: base === null ? "null" : typeof base } },
  );
}

/**
 * Asks a store for documents by text. With `asHost` the call is the one that the store's own retriever makes; for the base
 * class's search that is the same embedding and the same vector search. A store with a text search of its own (hybrid search,
 * server-side embedding) is asked through that one.
 */
export async function askForDocuments(store: VectorStoreInterface, query: HostQuery): Promise<Found> {
  const ownSearch = !isBaseClassMethod(store, "similaritySearch");
  const ownScores = !isBaseClassMethod(store, "similaritySearchWithScore");
  if (ownScores ? query.asHost : ownSearch) {
    const { text, filter, callbacks } = query;
    return { documents: await store.similaritySearch(text, askedOf(store, query), filterOf(filter), callbacks) };
  }
  return askForScores(store, query);
}

/**
 * Asks a store for documents and scores by text. The base class's search is asked in its two steps, so that the one embedding
 * serves both the search and the learner.
 */
export async function askForScores(store: VectorStoreInterface, query: HostQuery): Promise<Found> {
  const { text, filter, callbacks } = query;
  if (!isBaseClassMethod(store, "similaritySearchWithScore")) {
    return scored(await store.similaritySearchWithScore(text, askedOf(store, query), filterOf(filter), callbacks));
  }
  const fetchK = boundedBySize(store, query);
  const vector = await store.embeddings.embedQuery(text);
  return { ...scored(await store.similaritySearchVectorWithScore(vector, fetchK, filterOf(filter))), vector };
}

/** True if the store's text search is the base class's: embed, then search by vector. */
export function searchesByVector(store: VectorStoreInterface): boolean {
  return isBaseClassMethod(store, "similaritySearchWithScore") && isBaseClassMethod(store, "similaritySearch");
}

/** Splits a store's pairs. */
export function scored(pairs: readonly (readonly [DocumentInterface, number])[]): Found {
  return { documents: pairs.map(([document]) => document), scores: pairs.map(([, score]) => score) };
}

/** The number to ask for, at most the store's size and at least `k`: some stores warn when they are asked for more than they hold. */
export function boundedBySize(store: VectorStoreInterface, { k, fetchK }: Pick<HostQuery, "k" | "fetchK">): number {
  if (fetchK === k) return k;
  return Math.max(k, Math.min(fetchK, storeSize(store) ?? fetchK));
}

/** The number for a store's own search. */
function askedOf(store: VectorStoreInterface, query: HostQuery): number | undefined {
  return query.asHost && "asked" in query ? query.asked : boundedBySize(store, query);
}

/** The filter's type belongs to the store; it is passed on untouched. */
export function filterOf<Filter>(filter: unknown): Filter {
  return filter as Filter;
}

/**
 * True if the method is the one of LangChain's abstract class, recognised by owning `asRetriever` while leaving the vector
 * search to its subclasses. `instanceof` would fail across copies of the framework.
 */
function isBaseClassMethod(store: object, method: "similaritySearch" | "similaritySearchWithScore"): boolean {
  for (let owner: object | null = store; owner; owner = Object.getPrototypeOf(owner)) {
    if (Object.hasOwn(owner, method)) {
      return Object.hasOwn(owner, "asRetriever") && !Object.hasOwn(owner, "similaritySearchVectorWithScore");
    }
  }
  return false;
}

/** Methods of native indexes that count their vectors. */
const COUNTERS = ["getCurrentCount", "ntotal", "size"] as const;

/**
 * How many documents an embedded store holds (HNSWLib, FAISS, USearch); undefined for other stores. Those stores print a warning
 * when they are asked for more.
 */
export function storeSize(store: object): number | undefined {
  try {
    // HNSWLib's getter throws while the index is empty.
    const index = (store as { index?: unknown }).index as Record<string, unknown> | null | undefined;
    if (typeof index !== "object" || index === null) return undefined;
    for (const counter of COUNTERS) {
      const count = index[counter];
      const size: unknown = typeof count === "function" ? count.call(index) : undefined;
      if (typeof size === "number" && Number.isInteger(size)) return size;
    }
    return undefined;
  } catch {
    return undefined;
  }
}
