import type { RequestContext } from "@mastra/core/request-context";
import type { MastraVector, QueryResult } from "@mastra/core/vector";
import { assertName, type OutcomeReceipt, QavrError, type RankedItem, type Ranking } from "@qavr/core";
import { ignored, type Outcome, toOutcomeInput } from "@qavr/core/adapter";
import { createInternals } from "./create-internals.js";
import { failOpen, type Internals, internalsOf } from "./internals.js";
import { assertKnownVectorOptions } from "./known-options.js";
import { assertEnabled, type EngineFields, isEnabled, refuse } from "./memory-options.js";
import type { QavrMemory } from "./qavr-memory.js";
import { type QueryPlan, rankedQuery } from "./recall/ranked-query.js";
import { recallScopes } from "./recall/recall-scope.js";
import { proxyVector } from "./recall/reranking-vector.js";
import { type Caller, callingRun, type ToolCaller } from "./runs/calling-run.js";
import type { RunEpisode } from "./runs/run-episode.js";
import { type RunScope, scopeOf } from "./runs/run-scope.js";
import { storable } from "./runs/storable.js";
import { unheardQueries } from "./wiring-warnings.js";
import { withMembers } from "./with-members.js";

/** What a {@link QavrVector} is made from. */
export type QavrVectorOptions = VectorFields & ((EngineFields & { readonly memory?: undefined }) | SharedMemory);

/** A memory whose ledger, runs and settings a vector store shares; nothing that the memory brings may stand beside it. */
export type SharedMemory = { readonly [Field in Exclude<keyof EngineFields, "enabled">]?: undefined } & {
  readonly memory: QavrMemory;
  /** False leaves the vector store to itself. @default true */
  readonly enabled?: boolean | undefined;
};

/** What only a vector store can be told. */
export interface VectorFields {
  /** Which body of memories the ids belong to. @default the name of the index that is asked */
  readonly collection?: string | undefined;
  /** True adds `qavr: { episode, handle }` to each result's metadata, for reports from where the results themselves do not reach. @default false */
  readonly annotate?: boolean | undefined;
}

/** The episode of one query, as `annotate` gives it. */
export interface EpisodeReference {
  readonly episode: string;
  /** @default where this process learned it, else the fixed namespace */
  readonly namespace?: string | undefined;
}

/** What a wrapped vector store can do besides all that it could before. */
export interface Learning {
  /**
   * The same vector store inside an agent's run: what it shows belongs to the run's episode and is learned from with it. For
   * `createVectorQueryTool({ vectorStore: ({ requestContext }) => documents.inRun(requestContext) })`, and in a tool of your own
   * `documents.inRun(context)`, with the second argument of its `execute`: that names the run, also where several share a request
   * context. A run that is not learned from ranks as learned and records nothing. Where no run is found, each query is an episode of
   * its own, in the namespace that the request context, thread and resource say.
   */
  inRun(caller: RequestContext | ToolCaller | undefined): MastraVector;
  /**
   * Says how it went with what one query returned.
   *
   * @param shown A result of that query, or its episode's id: with its namespace where a function chose that in another process.
   * @throws UNKNOWN_EPISODE, NOT_SHOWN, INVALID_ARGUMENT, INVALID_ID, INVALID_REWARD, LIMIT_EXCEEDED, OUTCOME_TOO_LATE,
   * IDEMPOTENCY_CONFLICT, LEARNER_MISMATCH and the store's codes
   */
  reportOutcome(shown: QueryResult | EpisodeReference | string, outcome: Outcome): Promise<OutcomeReceipt>;
}

/** A vector store whose queries come in learned order. */
export type QavrVector<Vector extends MastraVector = MastraVector> = Vector & Learning;

/**
 * Wraps any vector store of Mastra, for RAG with or without a memory. A proxy: everything but `query` is the store's own.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function qavrVector<Vector extends MastraVector>(
  vector: Vector,
  options: QavrVectorOptions = {},
): QavrVector<Vector> {
  if (typeof vector?.query !== "function") refuse("vector", vector, "must be a vector store with a query method");
  if (typeof options !== "object" || options === null) {
    throw new QavrError("INVALID_ARGUMENT", "qavrVector() takes an object of options, or nothing.");
  }
  assertKnownVectorOptions(options);
  const { memory, collection, annotate = false, ...engineOptions } = options;
  if (collection !== undefined) assertName(collection, "collection");
  const internals = memory === undefined ? createInternals(engineOptions) : sharedInternals(memory, engineOptions);
  const enabled = internals.enabled && isEnabled(engineOptions);
  const shown = new WeakMap<object, { readonly episode: string; readonly namespace: string }>();
  // What is handed out holds this; the vector store itself may be wrapped anew for each call, and the memory may be gone before.
  internals.useFor(shown);
  const unheard = memory && unheardQueries(internals.options.logger);

  const within = (from: RequestContext | ToolCaller | undefined): Vector =>
    proxyVector(vector, async (params, ask) => {
      // What a memory asks for is ranked by the memory.
      if (!enabled || recallScopes.getStore()) return ask(params);
      const seen: Seen = {};
      const plan = await planQuery(internals, from, collection ?? params.indexName, seen);
      if (!plan) return ask(params);
      const results = await rankedQuery(plan, ask, params);
      if (!seen.ranking) return results;
      const { episode, items } = seen.ranking;
      if (!plan.run) unheard?.queried();
      return results.map((result, place) => {
        const { handle } = items[place] as RankedItem;
        const copy = annotate
          ? { ...result, metadata: { ...result.metadata, qavr: { episode, handle } } }
          : { ...result };
        shown.set(copy, { episode, namespace: plan.scope.namespace });
        return copy;
      });
    });

  const learning: Learning = {
    inRun: within,
    async reportOutcome(reference, outcome) {
      const input = toOutcomeInput(outcome, storable);
      const named = asReference(reference);
      if (!enabled) return ignored(named?.episode ?? "");
      const known = named ?? shown.get(reference as QueryResult);
      if (!known) {
        throw new QavrError(
          "UNKNOWN_EPISODE",
          "This result was not returned by a recorded query. Pass the result itself, or the id of its episode.",
        );
      }
      unheard?.reported();
      const { episode, namespace = internals.runs.namespaceOf(episode) ?? ownNamespace(internals) } = known;
      return internals.engine.report(episode, input, { namespace });
    },
  };
  return withMembers(within(undefined), learning);
}

/** A reference by the episode's id; undefined for a result. @throws INVALID_ARGUMENT for what is neither */
function asReference(reference: QueryResult | EpisodeReference | string): EpisodeReference | undefined {
  if (typeof reference === "string") return { episode: reference };
  if (typeof reference !== "object" || reference === null) {
    throw new QavrError("INVALID_ARGUMENT", "Report about a result that a query returned, or about { episode }.");
  }
  if (!("episode" in reference)) return undefined;
  const { episode, namespace } = reference;
  if (namespace !== undefined) assertName(namespace, "namespace");
  return { episode, ...(namespace === undefined ? {} : { namespace }) };
}

/** The internals of a memory, whose settings are the vector store's too. @throws INVALID_ARGUMENT for any other setting beside it */
function sharedInternals(memory: QavrMemory, { enabled, ...others }: EngineFields): Internals {
  assertEnabled(enabled);
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined) refuse(other, "both", "and memory are alternatives; the memory brings its own");
  const internals = internalsOf(memory);
  if (isEnabled({ enabled })) internals.vectors.share = true;
  return internals;
}

/** What a query has shown, once that is recorded. */
interface Seen {
  ranking?: Ranking;
}

/** How a query is ranked; undefined when that cannot be told, and the store answers as it is. */
async function planQuery(
  internals: Internals,
  from: RequestContext | ToolCaller | undefined,
  collection: string,
  seen: Seen,
): Promise<QueryPlan | undefined> {
  try {
    const caller = await callingRun(internals, from);
    const scope = scopeOfCaller(internals, caller);
    return scope && queryPlan(internals, caller.run, scope, collection, seen);
  } catch (error) {
    failOpen(internals, "RANKING_FAILED", "A query could not be ranked.", { error });
    return undefined;
  }
}

/** Where a query is learned; undefined where it may be on behalf of one of several runs that are learned from apart. */
function scopeOfCaller({ options }: Internals, { run, mayBe, ...info }: Caller): RunScope | undefined {
  const [one = scopeOf(options, info), ...others] = run ? [run] : mayBe;
  return others.every(({ namespace, context }) => namespace === one.namespace && context === one.context)
    ? one
    : undefined;
}

function queryPlan(
  internals: Internals,
  run: RunEpisode | undefined,
  { namespace, context }: RunScope,
  collection: string,
  seen: Seen,
): QueryPlan {
  return {
    internals,
    scope: { namespace, context },
    run,
    record: run?.recorded ?? true,
    collection,
    model: undefined,
    idOf: ({ id }) => (typeof id === "string" && id !== "" ? storable(id) : undefined),
    textOf: ({ document, metadata }) => document ?? (typeof metadata?.text === "string" ? metadata.text : undefined),
    admits: () => true,
    askAgain: () => undefined,
    onRanked(ranking, results) {
      if (ranking.episode === "") return;
      seen.ranking = ranking;
      if (!run) internals.runs.remember(ranking.episode, namespace);
      ranking.items.forEach((item, place) => {
        const text = this.textOf(results[place] as QueryResult);
        run?.memories.push({ id: item.id, handle: item.handle, collection, text, item });
      });
    },
  };
}

function ownNamespace({ options }: Internals): string {
  return typeof options.namespace === "string" ? options.namespace : "default";
}
