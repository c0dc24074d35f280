import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { BaseRetrieverInterface } from "@langchain/core/retrievers";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import type { Internals } from "../internals.js";
import type { RunSite } from "../runs/find-run.js";
import { askForDocuments, type Found, filterOf, isVectorStore } from "./host.js";
import { DEFAULT_K, MAX_FETCH_K, type RankingOptions } from "./ranking-options.js";
import { failOpen, planRerank, type Reranked, type RerankPlan, rerank } from "./rerank.js";

/** A retrieval from one host, as the retriever and `recall` share it. */
export interface SearchRequest {
  readonly base: VectorStoreInterface | BaseRetrieverInterface;
  readonly text: string;
  /** How many to return. A retriever is asked for no number; undefined returns all that it found. */
  readonly k: number | undefined;
  readonly filter: unknown;
  readonly options: RankingOptions;
  readonly site: RunSite;
  /** What the host is given to announce its own runs. */
  readonly callbacks: Callbacks | undefined;
}

/** Asks the host and reranks. Errors of the host are the caller's; errors of learning are not. */
export async function search(internals: Internals, request: SearchRequest): Promise<Reranked> {
  const { base, text, k, options, site } = request;
  if (isVectorStore(base)) return searchStore(internals, base, request);
  const documents = await base.invoke(text, { ...(request.callbacks ? { callbacks: request.callbacks } : {}) });
  if (!internals.engine.enabled) return untouched({ documents }, k);
  return rerank(internals, { ...planRerank(internals, site, options), found: { documents }, text, k, options });
}

async function searchStore(
  internals: Internals,
  store: VectorStoreInterface,
  request: SearchRequest,
): Promise<Reranked> {
  const { text, k = DEFAULT_K, filter, options, site, callbacks } = request;
  if (!internals.engine.enabled) {
    return untouched({ documents: await store.similaritySearch(text, k, filterOf(filter), callbacks) }, undefined);
  }
  const { plan, width } = await planSearch(internals, site, options, k);
  const found = await askForDocuments(store, { text, k, filter, callbacks, ...width });
  return rerank(internals, { ...plan, found, text, k, options, host: store });
}

/** How a store is to be asked. */
export interface SearchPlan {
  readonly plan: RerankPlan;
  readonly width: {
    /** How many candidates to ask for. */
    readonly fetchK: number;
    /** Whether that is the host's own call, because there is nothing to learn from yet. */
    readonly asHost: boolean;
  };
}

/**
 * Finds the scope of a search and how wide to ask. A `k` that the engine refuses is the host's to answer: it is passed on as it
 * is, and nothing is ranked.
 *
 * @throws only when failures of learning are to be thrown.
 */
export async function planSearch(
  internals: Internals,
  site: RunSite,
  options: RankingOptions,
  k: number,
): Promise<SearchPlan> {
  const plan = planRerank(internals, site, options);
  const width = { fetchK: k, asHost: true };
  if (!plan.scope) return { plan, width };
  const { namespace } = plan.scope;
  const { fetchK } = options;
  try {
    const size = await internals.engine.fetchSize({ namespace, topK: k, ...(fetchK === undefined ? {} : { fetchK }) });
    const wanted = Math.max(k, Math.min(size, MAX_FETCH_K));
    return { plan, width: { fetchK: wanted, asHost: wanted === k && fetchK !== k } };
  } catch (error) {
    failOpen(internals, site, error);
    return { plan: { site, scope: undefined }, width };
  }
}

function untouched({ documents }: Found, k: number | undefined): Reranked {
  const returned = k === undefined ? [...documents] : documents.slice(0, k);
  return { documents: returned, places: returned.map((_, place) => place), ranking: undefined, namespace: undefined };
}
