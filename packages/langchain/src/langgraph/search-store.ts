import type { Callbacks } from "@langchain/core/callbacks/manager";
import { definedOnly, illegalOption } from "@qavr/core/adapter";
import { MARKS, markOf } from "../marks.js";
import type { MemoryParts } from "../memory-parts.js";
import { rerank } from "../ranking/rerank.js";
import { planSearch } from "../ranking/search.js";
import type { ShownDocument } from "../ranking/shown-documents.js";
import { findRun } from "../runs/find-run.js";
import { assertStoreOptions, DEFAULT_LIMIT, rankingOptionsOf, type StoreOptions } from "./store-options.js";
import {
  type FoundItem,
  foundIn,
  type GivenStore,
  itemTexts,
  type SearchableStore,
  type StoredItem,
} from "./stored-item.js";

/** Options of `memory.search`. */
export interface StoreSearchOptions extends StoreOptions {
  /** How many items to return. @default 10 */
  readonly limit?: number | undefined;
  /** Passed to the store untouched. */
  readonly filter?: Record<string, unknown> | undefined;
}

/** The runtime of a tool or the config of a node, which carry the run. LangGraph declares a node's config without its callbacks. */
export interface SearchRuntime {
  readonly callbacks?: Callbacks | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A wrapped store, as {@link MARKS.langGraphStore} leads to it. */
export interface WrappedStore {
  readonly inner: SearchableStore;
  readonly options: StoreOptions;
}

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and what the store throws */
export async function searchStore(
  parts: MemoryParts,
  store: GivenStore,
  namespace: readonly string[],
  query: string,
  runtime: SearchRuntime | undefined,
  { limit = DEFAULT_LIMIT, filter, ...given }: StoreSearchOptions,
): Promise<FoundItem[]> {
  assertSearch(store, namespace, query);
  const { inner, options } = unwrapStore(store, given);
  assertStoreOptions(options, limit);
  const ask = (count: number): Promise<StoredItem[]> =>
    inner.search([...namespace], { query, limit: count, ...(filter ? { filter } : {}) });
  const site = findRun(parts.runs, runtime?.callbacks);
  if (!parts.kit.engine.enabled) {
    const items = await ask(limit);
    const texts = itemTexts(parts, site, items, options);
    return items.map((item, i) => found(item, texts[i] as string, undefined));
  }
  if (!site.tracked) parts.warnUntracked();
  const ranking = rankingOptionsOf(options);
  const { plan, width } = await planSearch(parts, site, ranking, limit);
  const items = await ask(width.fetchK);
  const texts = itemTexts(parts, site, items, options);
  const request = { ...plan, found: foundIn(items, texts), text: query, k: limit, options: ranking };
  const { documents, places } = await rerank(parts, request);
  return documents.map((document, i) => {
    const place = places[i] as number;
    return found(items[place] as StoredItem, texts[place] as string, parts.shown.get(document));
  });
}

function found(item: StoredItem, text: string, shown: ShownDocument | undefined): FoundItem {
  return { ...item, text, handle: shown?.item.handle, episode: shown?.episode };
}

/**
 * The store inside the one that a graph hands its nodes. LangGraph puts an `AsyncBatchedStore` around it, which batches the calls of
 * all runs and refuses other batches. Recognised as LangGraph does; any other store is returned as it is.
 */
export function withoutBatching<Store>(store: Store): Store {
  const { lg_name: kind, store: inner } = (store ?? {}) as { readonly lg_name?: unknown; readonly store?: Store };
  return kind === "AsyncBatchedStore" && inner ? inner : store;
}

/** The store inside a wrapped one, also inside a graph's batching. The given options replace the wrapper's. */
export function unwrapStore(store: SearchableStore, given: StoreOptions): WrappedStore {
  const wrapped = markOf(withoutBatching(store), MARKS.langGraphStore);
  if (!wrapped) return { inner: store, options: given };
  const { inner, options } = wrapped as WrappedStore;
  return { inner, options: { ...options, ...definedOnly(given) } };
}

function assertSearch(store: unknown, namespace: unknown, query: unknown): asserts store is SearchableStore {
  if (typeof (store as Partial<SearchableStore> | null | undefined)?.search !== "function") {
    throw illegalOption("store", "store must be a LangGraph store, such as runtime.store or the config's", store);
  }
  if (!Array.isArray(namespace) || namespace.some((label) => typeof label !== "string")) {
    throw illegalOption("namespace", "namespace must be a list of labels, the prefix to search in", namespace);
  }
  if (typeof query !== "string") throw illegalOption("query", "query must be a text", query);
}
