import type { DocumentInterface } from "@langchain/core/documents";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import type { Ranking } from "@qavr/core";
import { byRank, type RunRanking, type RunScope, toLabel, withRecency } from "@qavr/core/adapter";
import { documentId } from "../document-ids.js";
import type { MemoryParts } from "../memory-parts.js";
import { isOver, type RunSite } from "../runs/find-run.js";
import { scopeOfRun } from "../runs/run-scope.js";
import type { Found } from "./host.js";
import type { RankingOptions } from "./ranking-options.js";
import { isBestFirst } from "./score-directions.js";
import { bestFirst, toSimilarities } from "./similarities.js";
import { groupOf } from "./text-collection.js";
import { traceRanking } from "./trace-ranking.js";

/** The parts of a memory that take part in a ranking. */
export type RankingParts = Pick<MemoryParts, "kit" | "shown" | "scope" | "ids" | "label">;

/** Place and scope of one retrieval, known before the host is asked. */
export interface RerankPlan {
  readonly site: RunSite;
  /** Undefined when the scope could not be determined: nothing may be learned then. */
  readonly scope: RunScope | undefined;
}

export interface RerankRequest extends RerankPlan {
  readonly found: Found;
  /** Text of the request; undefined for a request by vector, or by nothing. */
  readonly text: string | undefined;
  /** How many to return; all when undefined. */
  readonly k: number | undefined;
  readonly options: RankingOptions;
  /** The store, for the direction of its scores and the name of its embedding space. */
  readonly host?: VectorStoreInterface;
  /** True records the host's selection without reordering it. */
  readonly keepOrder?: boolean;
  /** Ranks without recording, and returns this many, of which `k` are a page. */
  readonly unrecorded?: { readonly returned: number };
}

/** The documents to return and, parallel to them, their places in the host's list. */
export interface Reranked {
  readonly documents: DocumentInterface[];
  readonly places: readonly number[];
  /** Undefined when the host's order stands unrecorded. */
  readonly ranking: Ranking | undefined;
  readonly namespace: string | undefined;
}

/** Finds the scope of a retrieval. @throws only when failures of learning reach the caller. */
export function planRerank({ kit, scope }: RankingParts, site: RunSite, options: RankingOptions): RerankPlan {
  const { namespace = scope.namespace, context = scope.context } = options;
  try {
    return { site, scope: scopeOfRun({ namespace, context }, site.info) };
  } catch (error) {
    rankingFailed(kit, site, error);
    return { site, scope: undefined };
  }
}

/**
 * Ranks the documents of the host, records them as shown in the run, and returns copies. When that fails, the host's first `k` are
 * returned as they are.
 *
 * @throws only when failures of learning reach the caller.
 */
export async function rerank(parts: RankingParts, request: RerankRequest): Promise<Reranked> {
  const { site, scope, k = request.found.documents.length } = request;
  let arrangement: Arranged;
  try {
    arrangement = arranged(request, k);
  } catch (error) {
    // A function of the application's own, such as that for scores.
    rankingFailed(parts.kit, site, error);
    return hostOrder(request.found, k);
  }
  const { found, places } = arrangement;
  const ranked =
    found.documents.length === 0 || !scope || isOver(site)
      ? undefined
      : await parts.kit.rank(rankingOf(parts, request, scope, arrangement, k));
  const { places: reordered, ...result } = ranked ?? hostOrder(found, k);
  return { ...result, places: reordered.map((place) => places[place] as number) };
}

/** The host's documents with their similarities: best first, where newer ones are preferred or the host promises no order. */
type Arranged = ReturnType<typeof bestFirst>;

function arranged({ found, options, host, keepOrder }: RerankRequest, k: number): Arranged {
  const { documents, scores } = found;
  const similarities = scores
    ? toSimilarities(scores, options.scores ?? "auto", documents, host)
    : byRank(documents.length);
  const { recency } = options;
  if (recency && !keepOrder) {
    const { key = "created_at" } = recency;
    const now = Date.now();
    const preferred = documents.map(({ metadata }, place) =>
      withRecency(similarities[place] as number, metadata?.[key], now, recency),
    );
    return bestFirst(found, preferred);
  }
  if (documents.length > k && !isBestFirst(host)) return bestFirst(found, similarities);
  return { found, similarities, places: documents.map((_, place) => place) };
}

/** Translates one retrieval for the engine, and its ranking for LangChain. */
function rankingOf(
  { shown, ids, label }: RankingParts,
  { text, site, options, keepOrder = false, host, unrecorded }: RerankRequest,
  scope: RunScope,
  { found: { documents, vector }, similarities }: Arranged,
  topK: number,
): RunRanking<Reranked> {
  const { run, caller, info } = site;
  const { namespace } = scope;
  return {
    session: run?.root.session,
    runId: info.runId,
    minWorth: options.minWorth,
    mapIn: () => ({
      ...scope,
      collection: options.collection ?? "default",
      candidates: documents.map((document, place) => ({
        id: documentId(document, { idOf: options.idOf ?? ids.idOf, idKey: options.idKey ?? ids.idKey }),
        similarity: similarities[place] as number,
        text: document.pageContent,
        label: toLabel(label?.(document)),
        unverified: options.unverified?.(document) === true,
        group: groupOf(document, options.groupKey),
      })),
      topK,
      // Outside a run an empty list has no document to report about.
      required: options.required || !run,
      ...(unrecorded ? { record: false, returned: unrecorded.returned } : { keepOrder }),
      ...(vector && host ? { vector, space: spaceOf(host, vector, options) } : {}),
      ...(!vector && text !== undefined ? { text } : {}),
    }),
    mapOut(ranking) {
      const { episode, exposure, items } = ranking;
      const places = items.map(({ index }) => index);
      const chosen = places.map((place) => documents[place] as DocumentInterface);
      if (episode === "") return { documents: chosen, places, ranking, namespace };
      const copies = items.map((item, place) =>
        shown.show(
          chosen[place] as DocumentInterface,
          { namespace, episode, exposure, item },
          options.annotate === true,
        ),
      );
      run?.root.exposures.push({
        episode,
        exposure,
        run,
        items: items.map(({ id, handle }, place) => ({ id, handle, document: copies[place] as DocumentInterface })),
      });
      traceRanking(caller, namespace, ranking);
      return { documents: copies, places, ranking, namespace };
    },
  };
}

/** The host's first `k` as they are; all without a `k`. */
export function hostOrder({ documents }: Found, k?: number): Reranked {
  const first = documents.slice(0, k);
  return { documents: first, places: first.map((_, place) => place), ranking: undefined, namespace: undefined };
}

/**
 * Names the space of a store's query vectors by embedding model (where the store names it) and length. A change of model then ranks
 * on without the old vectors instead of failing.
 */
function spaceOf(store: VectorStoreInterface, vector: readonly number[], { space }: RankingOptions): string {
  if (space !== undefined) return space;
  const { model, modelName } = (store.embeddings ?? {}) as { model?: unknown; modelName?: unknown };
  const named = model ?? modelName;
  return `${typeof named === "string" && named !== "" ? named : "host"}/${vector.length}`;
}

/** Logs that the host's own answer is returned. @throws only when failures of learning reach the caller. */
export function rankingFailed(kit: MemoryParts["kit"], { info: { runId } }: RunSite, error: unknown): void {
  const message = "Ranking failed; the host's own first results were returned.";
  kit.failOpen("RANKING_FAILED", message, { runId, error });
}
