import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { QavrError } from "@qavr/core";
import { RECENT_FROM } from "@qavr/core/adapter";
import type { RunSite } from "../runs/find-run.js";
import { askForDocuments, filterOf, type Host, isVectorStore } from "./host.js";
import { DEFAULT_K, type RankingOptions } from "./ranking-options.js";
import { hostOrder, planRerank, type RankingParts, type Reranked, type RerankPlan, rerank } from "./rerank.js";

/** A retrieval from one host, for the retriever and `recall` alike. */
export interface SearchRequest {
  readonly base: Host;
  readonly text: string;
  /** How many to return. A retriever is asked for no number; undefined returns all that it found. */
  readonly k: number | undefined;
  readonly filter: unknown;
  readonly options: RankingOptions;
  readonly site: RunSite;
  /** Callbacks for the host's own runs. */
  readonly callbacks: Callbacks | undefined;
}

/** Asks the host and reranks. Errors of the host are the caller's; errors of learning are not. */
export async function search(parts: RankingParts, request: SearchRequest): Promise<Reranked> {
  const { base, text, k, options, site } = request;
  if (isVectorStore(base)) return searchStore(parts, base, request);
  const documents = await base.invoke(text, { ...(request.callbacks ? { callbacks: request.callbacks } : {}) });
  if (!Array.isArray(documents)) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      "The wrapped retriever must return a list of documents. Wrap the retriever, not the chain around it.",
    );
  }
  if (!parts.kit.engine.enabled) return hostOrder({ documents }, k);
  return rerank(parts, { ...planRerank(parts, site, options), found: { documents }, text, k, options });
}

async function searchStore(
  parts: RankingParts,
  store: VectorStoreInterface,
  { text, k = DEFAULT_K, filter, options, site, callbacks }: SearchRequest,
): Promise<Reranked> {
  if (!parts.kit.engine.enabled) {
    return hostOrder({ documents: await store.similaritySearch(text, k, filterOf(filter), callbacks) });
  }
  const { plan, width } = await planSearch(parts, site, options, k);
  const found = await askForDocuments(store, { text, k, filter, callbacks, ...width });
  return rerank(parts, { ...plan, found, text, k, options, host: store });
}

/** How a store is to be asked. */
export interface SearchPlan {
  readonly plan: RerankPlan;
  readonly width: {
    /** How many candidates to ask for. */
    readonly fetchK: number;
    /** True when that is the host's own call, because there is nothing to learn from yet. */
    readonly asHost: boolean;
  };
}

/**
 * Finds the scope of a search and how wide to ask. A `k` that the engine refuses is passed on to the host as it is, and nothing is
 * ranked.
 *
 * @throws only when failures of learning reach the caller.
 */
export async function planSearch(
  parts: RankingParts,
  site: RunSite,
  options: RankingOptions,
  k: number,
): Promise<SearchPlan> {
  const plan = planRerank(parts, site, options);
  const { fetchK } = options;
  const asked = plan.scope && { namespace: plan.scope.namespace, topK: k, fetchK };
  const wanted = asked && (await parts.kit.fetchSize(asked, site.info.runId));
  if (wanted === undefined) return { plan: { site, scope: undefined }, width: { fetchK: k, asHost: true } };
  // A preference needs something to choose from, also before anything is learned.
  if (options.recency) return { plan, width: { fetchK: Math.max(wanted, fetchK ?? RECENT_FROM), asHost: false } };
  return { plan, width: { fetchK: wanted, asHost: wanted === k && fetchK !== k } };
}
