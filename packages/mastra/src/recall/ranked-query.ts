import type { QueryResult, QueryVectorParams } from "@mastra/core/vector";
import type { Ranking } from "@qavr/core";
import { byRank, groupIn, RECENT_FROM, type Recency, type RunScope, toLabel, withRecency } from "@qavr/core/adapter";
import type { LearningOptions } from "../learning-options.js";
import type { MemoryParts } from "../memory-parts.js";
import { type AgentRun, entriesOf } from "../runs/agent-run.js";

/** Default number of results of Mastra's stores. */
export const DEFAULT_TOP_K = 10;

/** Purpose and scope of a vector query, and how its results are read. */
export interface QueryPlan {
  readonly kit: MemoryParts["kit"];
  readonly scope: RunScope;
  /** The run that is shown the results; undefined outside any run. */
  readonly run: AgentRun | undefined;
  /** False ranks without recording anything. Without a run, each recorded query is an episode of its own. */
  readonly record: boolean;
  readonly collection: string;
  readonly fetchK: number | undefined;
  /** Prefers newer memories. */
  readonly recency?: Recency | undefined;
  /** Leaves out what is not expected to help. */
  readonly minWorth?: number | undefined;
  readonly label: LearningOptions["label"];
  /** Key of the metadata with a result's group. @default no groups */
  readonly groupKey?: string | undefined;
  /** Name of the embedding model, for the name of its vector space. @default "host" */
  readonly model?: string | undefined;
  /** The rankings that followed from this plan. */
  readonly rankings: QueryRanking[];
  /** Id of the memory behind a result; undefined for a result without one. */
  idOf(result: QueryResult): string | undefined;
  textOf(result: QueryResult): string | undefined;
  /** The results that may take a place. @default all */
  admit?(pool: readonly QueryResult[]): readonly QueryResult[];
  /**
   * Another query for the pool; undefined when none would change it. @default none
   *
   * @param missing True when results that were left out have left places empty.
   */
  askAgain?(asked: QueryVectorParams, pool: readonly QueryResult[], missing: boolean): QueryVectorParams | undefined;
}

/** A ranking and the number of its candidates. */
export interface QueryRanking {
  readonly ranking: Ranking;
  readonly candidates: number;
}

type Ask = (params: QueryVectorParams) => Promise<QueryResult[]>;

interface Found {
  readonly results: QueryResult[];
  /** Parallel to `results`. */
  readonly ids: string[];
}

/**
 * Asks a vector store and returns the results in learned order. Without evidence, and with nothing to leave out, this is the store's
 * own call and its own answer. Errors of the store are the caller's; errors of learning are not.
 */
export async function rankedQuery(plan: QueryPlan, ask: Ask, params: QueryVectorParams): Promise<QueryResult[]> {
  const { topK = DEFAULT_TOP_K } = params;
  const found = await findCandidates(plan, ask, params, topK);
  if (found.results.length === 0) return [];
  const shown = await rankCandidates(plan, found, params, topK);
  return shown ?? found.results.slice(0, topK);
}

async function findCandidates(plan: QueryPlan, ask: Ask, params: QueryVectorParams, topK: number): Promise<Found> {
  const { kit, fetchK, recency, scope, run } = plan;
  const learned = (await kit.fetchSize({ namespace: scope.namespace, topK, fetchK }, run?.runId)) ?? topK;
  // A preference needs something to choose from, also before anything is learned.
  const width = recency ? Math.max(learned, fetchK ?? RECENT_FROM) : learned;
  const { answer, asked } = await askWide(plan, ask, params, { ...params, topK: width });
  const found = admitted(plan, answer);
  const missing = found.results.length < topK && answer.length >= topK;
  const more = await askMore(plan, ask, plan.askAgain?.(asked, answer, missing));
  const sign = areDistances(answer) ? -1 : 1;
  return more.length === 0
    ? found
    : admitted(
        plan,
        [...answer, ...more].sort((a, b) => sign * (b.score - a.score)),
      );
}

/** True for scores that rise along a list with the best first: distances, as LanceDB returns. */
function areDistances(results: readonly QueryResult[]): boolean {
  const scores = results.map(({ score }) => score);
  const rises = scores.every((score, place) => place === 0 || score >= (scores[place - 1] as number));
  return rises && scores[0] !== scores.at(-1);
}

/** Asks for the wide list. A store with limits may refuse it; then the caller's own query decides. */
async function askWide(
  { kit }: QueryPlan,
  ask: Ask,
  params: QueryVectorParams,
  wide: QueryVectorParams,
): Promise<{ readonly answer: readonly QueryResult[]; readonly asked: QueryVectorParams }> {
  if (wide.topK !== (params.topK ?? DEFAULT_TOP_K)) {
    try {
      return { answer: await ask(wide), asked: wide };
    } catch (error) {
      const answer = await ask(params);
      kit.failOpen("RANKING_FAILED", "The vector store refused a longer list of candidates.", { error });
      return { answer, asked: params };
    }
  }
  return { answer: await ask(params), asked: params };
}

/** Asks for more results. When the store refuses, those found so far decide. */
async function askMore(
  plan: QueryPlan,
  ask: Ask,
  again: QueryVectorParams | undefined,
): Promise<readonly QueryResult[]> {
  if (!again) return [];
  try {
    return await ask(again);
  } catch (error) {
    plan.kit.failOpen("RANKING_FAILED", "The vector store refused another question for candidates.", { error });
    return [];
  }
}

/** Each memory once, in the store's order. */
function admitted(plan: QueryPlan, answer: readonly QueryResult[]): Found {
  const found: Found = { results: [], ids: [] };
  const seen = new Set<string>();
  for (const result of plan.admit?.(answer) ?? answer) {
    const id = plan.idOf(result);
    if (id === undefined || seen.has(id)) continue;
    seen.add(id);
    found.results.push(result);
    found.ids.push(id);
  }
  return found;
}

function rankCandidates(
  plan: QueryPlan,
  found: Found,
  { queryVector }: QueryVectorParams,
  topK: number,
): Promise<QueryResult[] | undefined> {
  const { kit, scope, run, record, collection, model = "host", rankings } = plan;
  const { results, ids, similarities } = preferred(plan, found);
  return kit.rank({
    session: run?.session,
    runId: run?.runId,
    minWorth: plan.minWorth,
    mapIn() {
      const candidates = results.map((result, place) => {
        const [id, text] = [ids[place] as string, plan.textOf(result)];
        const label = toLabel(plan.label?.({ collection, id, text, metadata: result.metadata }));
        const group = groupIn(result.metadata, plan.groupKey);
        const candidate = { id, similarity: similarities[place] as number, label, group };
        return text === undefined ? candidate : { ...candidate, text };
      });
      const space = queryVector && { vector: queryVector, space: `${model}/${queryVector.length}` };
      // Outside a run an empty list has no episode to report about.
      return { ...scope, collection, candidates, topK, record, required: !run, ...space };
    },
    mapOut(ranking) {
      const shown = ranking.items.map(({ index }) => results[index] as QueryResult);
      rankings.push({ ranking, candidates: results.length });
      run?.rankings.push(ranking);
      run?.memories.push(...entriesOf(ranking, collection, (_, place) => plan.textOf(shown[place] as QueryResult)));
      return shown;
    },
  });
}

/** Results with their similarities, in the order of similarity and recency. */
function preferred(
  { recency }: QueryPlan,
  { results, ids }: Found,
): Found & { readonly similarities: readonly number[] } {
  const scores = results.map(({ score }) => score);
  const known = areDistances(results) ? scores.map((distance) => 1 - distance) : scores;
  const similarities = known.every(Number.isFinite) ? known : byRank(known.length);
  if (!recency) return { results, ids, similarities };
  const now = Date.now();
  const prior = results.map(({ metadata }, place) =>
    withRecency(similarities[place] as number, metadata?.created_at, now, recency),
  );
  const order = prior.map((_, place) => place).sort((a, b) => (prior[b] as number) - (prior[a] as number));
  const inOrder = <Value>(values: readonly Value[]): Value[] => order.map((place) => values[place] as Value);
  return { results: inOrder(results), ids: inOrder(ids), similarities: inOrder(prior) };
}
