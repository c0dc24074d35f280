import type { DocumentInterface } from "@langchain/core/documents";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { ERROR_CODES, type ErrorCode, QavrError, type Ranking, type RankRequest } from "@qavr/core";
import { byRank } from "@qavr/core/adapter";
import { documentId } from "../document-ids.js";
import type { Internals } from "../internals.js";
import { isOver, type RunSite } from "../runs/find-run.js";
import { episodeOf, leaveEpisode } from "../runs/run-episodes.js";
import { type RunScope, scopeOf } from "../runs/run-scope.js";
import { bestFirst } from "./best-first.js";
import { spaceOf } from "./embedding-space.js";
import type { Found } from "./host.js";
import type { RankingOptions } from "./ranking-options.js";
import { isBestFirst } from "./score-directions.js";
import { toSimilarities } from "./similarities.js";
import { traceRanking } from "./trace-ranking.js";

/** What the parts around one retrieval agree on before the host is asked. */
export interface RerankPlan {
  readonly site: RunSite;
  /** Undefined when the scope could not be told: nothing may be learned then. */
  readonly scope: RunScope | undefined;
}

export interface RerankRequest extends RerankPlan {
  readonly found: Found;
  /** The request's text; undefined when a vector, or nothing, stands for it. */
  readonly text: string | undefined;
  /** How many to return; all when undefined. */
  readonly k: number | undefined;
  readonly options: RankingOptions;
  /** The store, for the direction of its scores and the name of its embedding space. */
  readonly host?: VectorStoreInterface;
  /** True records the host's selection without reordering it. */
  readonly keepOrder?: boolean;
  /** Ranks without recording that anything was shown, and returns this many, of which `k` are a page. */
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

/** Finds the scope of a retrieval. @throws only when failures of learning are to be thrown. */
export function planRerank(internals: Internals, site: RunSite, options: RankingOptions): RerankPlan {
  try {
    const scope = scopeOf(
      { namespace: options.namespace ?? internals.namespace, context: options.context ?? internals.context },
      site.info,
    );
    return { site, scope };
  } catch (error) {
    failOpen(internals, site, error);
    return { site, scope: undefined };
  }
}

/**
 * Lets the engine order what the host found, remembers it as shown in the run, and returns copies of the documents. When that
 * fails the host's first `k` are returned as they are.
 *
 * @throws only when failures of learning are to be thrown.
 */
export async function rerank(internals: Internals, request: RerankRequest): Promise<Reranked> {
  const { site, scope, options, k = request.found.documents.length } = request;
  const { found, similarities, places } = arranged(request, k);
  const inHostsPlaces = (ranked: Reranked): Reranked => ({
    ...ranked,
    places: ranked.places.map((place) => places[place] as number),
  });
  if (found.documents.length === 0 || !scope || isOver(site)) return inHostsPlaces(hostOrder(found, k));
  try {
    const ranking = await rankInRun(internals, { ...request, found }, similarities, scope, k);
    if (ranking.degraded && internals.throws) throw degradation(ranking.degraded);
    return inHostsPlaces(mapOut(internals, ranking, found, scope.namespace, site, options.annotate === true));
  } catch (error) {
    if (!isOver(site)) failOpen(internals, site, error);
    return inHostsPlaces(hostOrder(found, k));
  }
}

/** What was found with its similarities, in the host's order unless that is none and more was found than is wanted. */
function arranged({ found, options, host }: RerankRequest, k: number): ReturnType<typeof bestFirst> {
  const { documents, scores } = found;
  const similarities = scores
    ? toSimilarities(scores, options.scores ?? "auto", documents, host)
    : byRank(documents.length);
  if (documents.length > k && !isBestFirst(host)) return bestFirst(found, similarities);
  return { found, similarities, places: documents.map((_, place) => place) };
}

async function rankInRun(
  internals: Internals,
  request: RerankRequest,
  similarities: readonly number[],
  scope: RunScope,
  k: number,
): Promise<Ranking> {
  const { found, text, site, options, keepOrder = false, host, unrecorded } = request;
  const { documents, vector } = found;
  const ids = { idOf: options.idOf ?? internals.ids.idOf, idKey: options.idKey ?? internals.ids.idKey };
  const asked: RankRequest = {
    ...scope,
    collection: options.collection ?? "default",
    candidates: documents.map((document, place) => ({
      id: documentId(document, ids),
      similarity: similarities[place] as number,
      text: document.pageContent,
      unverified: options.unverified?.(document) === true,
    })),
    topK: k,
    keepOrder,
    ...(vector && host ? { vector, space: spaceOf(host, vector, options) } : {}),
    ...(!vector && text !== undefined ? { text } : {}),
  };
  if (unrecorded) return internals.engine.rank({ ...asked, record: false, returned: unrecorded.returned });
  const root = site.run?.root;
  if (!root) return internals.engine.rank(asked);
  const known = episodeOf(internals, root, scope.namespace);
  try {
    return await internals.engine.rank({ ...asked, episode: await known });
  } catch (error) {
    // The run was quiet for longer than an open episode is kept. It goes on in a new one.
    if (!QavrError.isInstance(error, "UNKNOWN_EPISODE") || root.over) throw error;
    leaveEpisode(root, known);
    return internals.engine.rank({ ...asked, episode: await episodeOf(internals, root, scope.namespace) });
  }
}

function mapOut(
  { shown }: Internals,
  ranking: Ranking,
  { documents }: Found,
  namespace: string,
  { run, caller }: RunSite,
  annotate: boolean,
): Reranked {
  const { episode, exposure, items } = ranking;
  if (episode === "") {
    const chosen = items.map(({ index }) => documents[index] as DocumentInterface);
    return { documents: chosen, places: items.map(({ index }) => index), ranking, namespace };
  }
  const copies = items.map((item) =>
    shown.show(documents[item.index] as DocumentInterface, { namespace, episode, exposure, item }, annotate),
  );
  run?.root.exposures.push({
    namespace,
    episode,
    exposure,
    run,
    items: items.map(({ id, handle }, place) => ({ id, handle, document: copies[place] as DocumentInterface })),
  });
  traceRanking(caller, namespace, ranking);
  return { documents: copies, places: items.map(({ index }) => index), ranking, namespace };
}

function hostOrder({ documents }: Found, k: number): Reranked {
  const first = documents.slice(0, k);
  return { documents: first, places: first.map((_, place) => place), ranking: undefined, namespace: undefined };
}

/** Says that the host's own answer has to do. @throws only when failures of learning are to be thrown. */
export function failOpen({ throws, log }: Internals, { info }: RunSite, error: unknown): void {
  if (throws) throw error;
  log("warn", "RANKING_FAILED", "Ranking failed; the host's own first results were returned.", {
    ...(info.runId === undefined ? {} : { runId: info.runId }),
    error,
  });
}

function degradation({ code, message }: NonNullable<Ranking["degraded"]>): QavrError {
  const known = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "STORE_FAILED";
  return new QavrError(known, `Learning had to be left out of this ranking: ${message}`, { details: { code } });
}
