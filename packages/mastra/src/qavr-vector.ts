import type { MastraVector, QueryResult } from "@mastra/core/vector";
import { type OutcomeReceipt, QavrError, type RankedItem } from "@qavr/core";
import {
  assertName,
  checkFields,
  type FieldRules,
  idIn,
  ignored,
  illegalOption,
  isEnabled,
  type Outcome,
  type RunScope,
  textId,
  withMembers,
} from "@qavr/core/adapter";
import { assertVectorOptions, type EngineFields, type VectorFields } from "./learning-options.js";
import { createParts, type MemoryParts, partsOf } from "./memory-parts.js";
import type { QavrMemory } from "./qavr-memory.js";
import { type QueryPlan, rankedQuery } from "./recall/ranked-query.js";
import { proxyVector, recallScopes } from "./recall/reranking-vector.js";
import type { AgentRun } from "./runs/agent-run.js";
import { storable } from "./runs/aliases.js";
import { type Caller, callingRun, type ToolCaller } from "./runs/calling-run.js";
import { type GivenContext, scopeOfRun } from "./runs/run-scope.js";
import { unreportedQueries } from "./wiring-warnings.js";

/** Options of a {@link QavrVector}. */
export type QavrVectorOptions = VectorFields & ((EngineFields & { readonly memory?: undefined }) | SharedMemory);

/** A memory whose ledger, runs and settings a vector store shares, in place of options of its own. */
export type SharedMemory = { readonly [Field in Exclude<keyof EngineFields, "enabled">]?: undefined } & {
  readonly memory: QavrMemory;
  /** False leaves the vector store to itself. @default true */
  readonly enabled?: boolean | undefined;
};

/** The episode of one query, as `annotate` gives it. */
export interface EpisodeReference {
  readonly episode: string;
  /** @default the one in which this process learned it, else the fixed namespace */
  readonly namespace?: string | undefined;
}

/** Members that a wrapped vector store has besides its own. */
export interface Learning {
  /**
   * The same vector store inside an agent's run: its results belong to the run's episode. Use it as
   * `createVectorQueryTool({ vectorStore: ({ requestContext }) => documents.inRun(requestContext) })`. In a tool of your own call
   * `documents.inRun(context)` with the second argument of `execute`, which names the run also where several share a request context.
   * A run that is not learned from gets the learned order and records nothing. Without a run, each query is an episode of its own, in
   * the namespace of the request context, thread and resource.
   */
  inRun(caller: GivenContext | ToolCaller | undefined): MastraVector;
  /**
   * Reports how it went with the results of one query.
   *
   * @param shown One result of that query, or its episode's id, with its namespace where a function chose it in another process.
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
  if (typeof vector?.query !== "function")
    throw illegalOption("qavr.vector", "qavr.vector must be a vector store with a query method", vector);
  assertVectorOptions(options);
  const { memory, collection, groupKey, annotate = false, fetchK, ...engineOptions } = options;
  const parts =
    memory === undefined
      ? createParts({ ...engineOptions, semanticRecall: { fetchK } })
      : sharedParts(memory, { ...engineOptions, fetchK });
  const enabled = parts.enabled && isEnabled(engineOptions);
  const shown = new WeakMap<object, { readonly episode: string; readonly namespace: string }>();
  // The returned object holds this. The vector store may be wrapped anew for each call, and the memory may be collected before.
  parts.shared.useFor(shown);
  const unreported = memory && unreportedQueries(parts.options.logger);

  const within = (from: GivenContext | ToolCaller | undefined): Vector =>
    proxyVector(vector, async (params, ask) => {
      // The memory ranks its own queries.
      if (!enabled || recallScopes.getStore()) return ask(params);
      const plan = await planQuery(parts, from, { collection: collection ?? params.indexName, groupKey });
      if (!plan) return ask(params);
      const results = await rankedQuery(plan, ask, params);
      const ranking = plan.rankings.at(-1)?.ranking;
      if (!ranking?.episode) return results;
      const { episode, items } = ranking;
      if (!plan.run) {
        parts.shared.runs.remember(episode, plan.scope.namespace);
        const { runId, agent } = (from ?? {}) as ToolCaller;
        unreported?.queried(parts.shared.runs.wasLetGo(runId, agent?.threadId));
      }
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
      const named = asReference(reference);
      if (!enabled) return ignored(named?.episode ?? "");
      const known = named ?? shown.get(reference as QueryResult);
      if (!known) {
        throw new QavrError(
          "UNKNOWN_EPISODE",
          "No recorded query returned this. Pass one of its results as you got it, or the id of its episode.",
        );
      }
      unreported?.reported();
      const { episode, namespace = parts.shared.runs.namespaceOf(episode) ?? ownNamespace(parts) } = known;
      return parts.kit.report({ reference: episode, namespace, isUnshown: false }, outcome);
    },
  };
  return withMembers(within(undefined), learning);
}

// A result's annotation has the handle, too.
const REFERENCE: FieldRules<EpisodeReference & { readonly handle: unknown }> = {
  episode: true,
  namespace: true,
  handle: true,
};

/** A reference by the episode's id; undefined for a result. @throws INVALID_ARGUMENT for any other value */
function asReference(reference: QueryResult | EpisodeReference | string): EpisodeReference | undefined {
  if (typeof reference === "string") return { episode: reference };
  if (typeof reference !== "object" || reference === null) {
    throw new QavrError("INVALID_ARGUMENT", "Report about a result that a query returned, or about { episode }.");
  }
  if (!("episode" in reference)) return undefined;
  checkFields("The episode of a query", reference, REFERENCE);
  const { episode, namespace } = reference;
  if (namespace !== undefined) assertName(namespace, "namespace");
  return { episode, ...(namespace === undefined ? {} : { namespace }) };
}

/** The parts of a memory, for its vector store. @throws INVALID_ARGUMENT for any other option beside it */
function sharedParts(
  memory: QavrMemory,
  { enabled, ...others }: EngineFields & Pick<VectorFields, "fetchK">,
): MemoryParts {
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined)
    throw illegalOption(
      `qavr.${other}`,
      `qavr.${other} and memory are alternatives; the memory brings its own`,
      "both",
    );
  const parts = partsOf(memory);
  if (isEnabled({ enabled })) parts.shared.vectors.share = true;
  return parts;
}

/** The plan of a query; undefined when its scope cannot be determined, and the store answers as it is. */
async function planQuery(
  parts: MemoryParts,
  from: GivenContext | ToolCaller | undefined,
  reading: Pick<QueryPlan, "collection" | "groupKey">,
): Promise<QueryPlan | undefined> {
  try {
    const caller = await callingRun(parts, from);
    const scope = scopeOfCaller(parts, caller);
    return scope && queryPlan(parts, caller.run, scope, reading);
  } catch (error) {
    parts.kit.failOpen("RANKING_FAILED", "A query could not be ranked.", { error });
    return undefined;
  }
}

/** The scope of a query; undefined where the caller may be one of several runs with different scopes. */
function scopeOfCaller({ options }: MemoryParts, { run, mayBe, ...info }: Caller): RunScope | undefined {
  const [one = scopeOfRun(options, info), ...others] = run ? [run] : mayBe;
  return others.every(({ namespace, context }) => namespace === one.namespace && context === one.context)
    ? one
    : undefined;
}

function queryPlan(
  { kit, options }: MemoryParts,
  run: AgentRun | undefined,
  { namespace, context }: RunScope,
  reading: Pick<QueryPlan, "collection" | "groupKey">,
): QueryPlan {
  return {
    kit,
    scope: { namespace, context },
    run,
    record: run === undefined || run.session !== undefined,
    ...reading,
    fetchK: options.semanticRecall?.fetchK,
    label: options.label,
    rankings: [],
    // Some stores return other ids in spite of their types, or none for what other programs wrote.
    idOf: (result) => storable(idIn(result.id) ?? textId(textOf(result) ?? JSON.stringify(result.metadata ?? null))),
    textOf,
  };
}

function textOf({ document, metadata }: QueryResult): string | undefined {
  return document ?? (typeof metadata?.text === "string" ? metadata.text : undefined);
}

function ownNamespace({ options }: MemoryParts): string {
  return typeof options.namespace === "string" ? options.namespace : "default";
}
