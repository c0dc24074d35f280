import type { Callbacks } from "@langchain/core/callbacks/manager";
import { definedOnly } from "@qavr/core";
import type { Internals } from "../internals.js";
import { MARKS, markOf } from "../marks.js";
import { refuse } from "../ranking/ranking-options.js";
import { rerank } from "../ranking/rerank.js";
import { planSearch } from "../ranking/search.js";
import type { ShownDocument } from "../ranking/shown-documents.js";
import { findRun } from "../runs/find-run.js";
import { foundIn } from "./item-documents.js";
import { itemTexts } from "./item-texts.js";
import { assertStoreOptions, DEFAULT_LIMIT, rankingOptionsOf, type StoreOptions } from "./store-options.js";
import type { FoundItem, GivenStore, SearchableStore, StoredItem } from "./stored-item.js";
import { withoutBatching } from "./without-batching.js";

/** What `memory.search` can be told besides where and what to look for. */
export interface StoreSearchOptions extends StoreOptions {
  /** How many items to return. @default 10 */
  readonly limit?: number | undefined;
  /** Passed to the store untouched. */
  readonly filter?: Record<string, unknown> | undefined;
}

/** The runtime of a tool or the config of a node: what knows the run. */
export interface SearchRuntime {
  readonly callbacks?: Callbacks | undefined;
}

/** A wrapped store, as {@link MARKS.langGraphStore} leads to it. */
export interface WrappedStore {
  readonly inner: SearchableStore;
  readonly options: StoreOptions;
}

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and what the store throws */
export async function searchStore(
  internals: Internals,
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
  const site = findRun(internals.runs, runtime?.callbacks);
  if (!internals.engine.enabled) {
    const items = await ask(limit);
    const texts = itemTexts(internals, site, items, options);
    return items.map((item, i) => found(item, texts[i] as string, undefined));
  }
  if (!site.tracked) internals.warnUntracked();
  const ranking = rankingOptionsOf(options);
  const { plan, width } = await planSearch(internals, site, ranking, limit);
  const items = await ask(width.fetchK);
  const texts = itemTexts(internals, site, items, options);
  const request = { ...plan, found: foundIn(items, texts), text: query, k: limit, options: ranking };
  const { documents, places } = await rerank(internals, request);
  return documents.map((document, i) => {
    const place = places[i] as number;
    return found(items[place] as StoredItem, texts[place] as string, internals.shown.get(document));
  });
}

function found(item: StoredItem, text: string, shown: ShownDocument | undefined): FoundItem {
  return { ...item, text, handle: shown?.item.handle, episode: shown?.episode };
}

/** The store inside one of ours, also where a graph has put its batching around it. The options given go before the wrapper's. */
export function unwrapStore(store: SearchableStore, given: StoreOptions): WrappedStore {
  const wrapped = markOf(withoutBatching(store), MARKS.langGraphStore);
  if (!wrapped) return { inner: store, options: given };
  const { inner, options } = wrapped as WrappedStore;
  return { inner, options: { ...options, ...definedOnly(given) } };
}

function assertSearch(store: unknown, namespace: unknown, query: unknown): asserts store is SearchableStore {
  if (typeof (store as Partial<SearchableStore> | null | undefined)?.search !== "function") {
    refuse("store", store, "must be a LangGraph store, such as runtime.store or the config's");
  }
  if (!Array.isArray(namespace) || namespace.some((label) => typeof label !== "string")) {
    refuse("namespace", namespace, "must be a list of labels, the prefix to search in");
  }
  if (typeof query !== "string") refuse("query", query, "must be a text");
}
