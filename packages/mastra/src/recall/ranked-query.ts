import type { QueryResult, QueryVectorParams } from "@mastra/core/vector";
import { type Candidate, ERROR_CODES, type ErrorCode, QavrError, type Ranking } from "@qavr/core";
import { byRank } from "@qavr/core/adapter";
import { failOpen, type Internals } from "../internals.js";
import { MAX_FETCH_K } from "../memory-options.js";
import type { RunEpisode } from "../runs/run-episode.js";
import { reopen } from "../runs/run-lifecycle.js";
import type { RunScope } from "../runs/run-scope.js";

/** How many results Mastra's stores return when nobody says. */
export const DEFAULT_TOP_K = 10;

/** What one vector query is for. */
export interface QueryPlan {
  readonly internals: Internals;
  readonly scope: RunScope;
  /** The run that is shown the results; undefined outside one. */
  readonly run: RunEpisode | undefined;
  /** False ranks without recording anything. Without a run, each recorded query is an episode of its own. */
  readonly record: boolean;
  readonly collection: string;
  /** Name of the embedding model, for the name of its vector space. */
  readonly model: string | undefined;
  /** What names the memory behind a result; undefined for a result that is none. */
  idOf(result: QueryResult): string | undefined;
  textOf(result: QueryResult): string | undefined;
  /** False for a result that must not take a place. */
  admits(result: QueryResult): boolean;
  /** The question that may fill the places that results left out have lost; undefined when none would. */
  askAgain(asked: QueryVectorParams): QueryVectorParams | undefined;
  /** Called with what was shown, in order. */
  onRanked(ranking: Ranking, shown: readonly QueryResult[], candidates: number): void;
}

type Ask = (params: QueryVectorParams) => Promise<QueryResult[]>;

interface Found {
  readonly results: QueryResult[];
  /** Parallel to `results`. */
  readonly ids: string[];
}

/**
 * Asks a vector store and returns the results in learned order. While nothing is known and nothing has to be left out, that is
 * the store's own call and its own answer. Errors of the store are the caller's; errors of learning are not.
 */
export async function rankedQuery(plan: QueryPlan, ask: Ask, params: QueryVectorParams): Promise<QueryResult[]> {
  const { topK = DEFAULT_TOP_K } = params;
  const wide = { ...params, topK: await fetchWidth(plan, topK) };
  const { answer, asked } = await askWide(plan, ask, params, wide);
  let found = admitted(plan, answer);
  if (found.results.length < topK && answer.length >= topK) {
    const more = await askMore(plan, ask, asked);
    if (more.length > 0)
      found = admitted(
        plan,
        [...answer, ...more].sort((a, b) => b.score - a.score),
      );
  }
  if (found.results.length === 0) return [];
  try {
    const ranking = await rankInRun(plan, found, params, topK);
    if (ranking.degraded && plan.internals.throws) throw degradation(ranking.degraded);
    const shown = ranking.items.map(({ index }) => found.results[index] as QueryResult);
    plan.onRanked(ranking, shown, found.results.length);
    return shown;
  } catch (error) {
    failOpen(plan.internals, "RANKING_FAILED", "Ranking failed; the vector store's own first results were returned.", {
      ...(plan.run?.runId === undefined ? {} : { runId: plan.run.runId }),
      error,
    });
    return found.results.slice(0, topK);
  }
}

async function fetchWidth({ internals, scope }: QueryPlan, topK: number): Promise<number> {
  const { fetchK } = internals.options;
  try {
    const width = await internals.engine.fetchSize({
      namespace: scope.namespace,
      topK,
      ...(fetchK === undefined ? {} : { fetchK }),
    });
    return Math.min(MAX_FETCH_K, width);
  } catch (error) {
    // A topK that the engine refuses is the store's to answer.
    failOpen(internals, "RANKING_FAILED", "The number of candidates could not be told.", { error });
    return topK;
  }
}

/** Asks for the wide list. A store that refuses it (some have limits) is asked what its caller asked; one that refuses this too has failed. */
async function askWide(
  { internals }: QueryPlan,
  ask: Ask,
  params: QueryVectorParams,
  wide: QueryVectorParams,
): Promise<{ readonly answer: readonly QueryResult[]; readonly asked: QueryVectorParams }> {
  if (wide.topK !== (params.topK ?? DEFAULT_TOP_K)) {
    try {
      return { answer: await ask(wide), asked: wide };
    } catch (error) {
      const answer = await ask(params);
      failOpen(internals, "RANKING_FAILED", "The vector store refused a longer list of candidates.", { error });
      return { answer, asked: params };
    }
  }
  return { answer: await ask(params), asked: params };
}

/** Asks for what may fill the places that results left out have lost. A store that cannot answer that leaves them empty. */
async function askMore(plan: QueryPlan, ask: Ask, asked: QueryVectorParams): Promise<readonly QueryResult[]> {
  const again = plan.askAgain(asked);
  if (!again) return [];
  try {
    return await ask(again);
  } catch (error) {
    failOpen(plan.internals, "RANKING_FAILED", "The vector store refused another question for candidates.", { error });
    return [];
  }
}

/** Each memory once, in the store's order. */
function admitted(plan: QueryPlan, answer: readonly QueryResult[]): Found {
  const found: Found = { results: [], ids: [] };
  const seen = new Set<string>();
  for (const result of answer) {
    const id = plan.idOf(result);
    if (id === undefined || seen.has(id) || !plan.admits(result)) continue;
    seen.add(id);
    found.results.push(result);
    found.ids.push(id);
  }
  return found;
}

async function rankInRun(
  plan: QueryPlan,
  { results, ids }: Found,
  { queryVector }: QueryVectorParams,
  topK: number,
): Promise<Ranking> {
  const { internals, scope, run, collection, model = "host" } = plan;
  const scores = results.map(({ score }) => score);
  const similarities = scores.every(Number.isFinite) ? scores : byRank(scores.length);
  const candidates = results.map((result, place): Candidate => {
    const text = plan.textOf(result);
    return {
      id: ids[place] as string,
      similarity: similarities[place] as number,
      ...(text === undefined ? {} : { text }),
    };
  });
  const request = {
    ...scope,
    collection,
    candidates,
    topK,
    ...(queryVector === undefined ? {} : { vector: queryVector, space: `${model}/${queryVector.length}` }),
  };
  if (!plan.record || !run) return internals.engine.rank({ ...request, record: plan.record });
  return inOpenEpisode(internals, run, (episode) => internals.engine.rank({ ...request, episode }));
}

/** A run that was quiet for longer than an open episode is kept goes on in a new one. */
export async function inOpenEpisode<T>(
  internals: Internals,
  run: RunEpisode,
  rank: (episode: string) => Promise<T>,
): Promise<T> {
  try {
    return await rank(run.episode);
  } catch (error) {
    if (!QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
    return rank(reopen(internals, run));
  }
}

function degradation({ code, message }: NonNullable<Ranking["degraded"]>): QavrError {
  const known = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "STORE_FAILED";
  return new QavrError(known, `Learning had to be left out of this ranking: ${message}`, { details: { code } });
}
