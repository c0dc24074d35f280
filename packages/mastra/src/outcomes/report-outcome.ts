import { type OutcomeReceipt, QavrError } from "@qavr/core";
import { checkFields, type FieldRules, ignored, illegalOption, type Outcome, TEXT } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { storable, threadAlias, traceAlias } from "../runs/aliases.js";
import { namespaceOf } from "../runs/run-scope.js";

/** The names of a run. */
interface RunIds {
  readonly runId: string | undefined;
  readonly traceId: string | undefined;
  /** The latest run on this thread. */
  readonly threadId: string | undefined;
  /** Its episode's id, as in a request context and in an explanation. */
  readonly episode: string | undefined;
}

/** The namespace of a run, where a function chooses it. */
interface RunPlace {
  /** Needed for a run of another process whose namespace follows from more than its thread and resource. */
  readonly namespace?: string | undefined;
  /** The run's resource for a namespace function, where `namespace` is not given. */
  readonly resourceId?: string | undefined;
}

/** A run by one id and no other. */
type ById<Id extends keyof RunIds> = Pick<RunIds, Id> & { readonly [Other in Exclude<keyof RunIds, Id>]?: undefined };

/** A run by exactly one of its four ids. */
export type RunReference = RunPlace & { [Id in keyof RunIds]: ById<Id> }[keyof RunIds];

/** The fields of an outcome that are evidence about a run. */
type Telling = "success" | "reward" | "helpful" | "harmful" | "neutral" | "used";

/** An outcome and the run that it is about. `reward: null` is an unknown result. */
export type ReportedRun = RunReference &
  Outcome &
  { [Field in Telling]: { readonly [Key in Field]: Outcome[Key] } }[Telling];

/** @throws as `QavrMemory.reportOutcome` does */
export async function reportOutcome(parts: MemoryParts, reported: ReportedRun): Promise<OutcomeReceipt> {
  if (typeof reported !== "object" || reported === null) {
    throw new QavrError("INVALID_ARGUMENT", "reportOutcome takes an object such as { runId, success: true }.");
  }
  const { runId, traceId, threadId, episode, namespace, resourceId, ...outcome } = reported;
  const target = locate(parts, reported);
  if (!parts.enabled) return ignored(target.alias);
  if (runId !== undefined && parts.shared.runs.isShared(runId)) {
    const message = "Several runs share this run id. Name one of them by threadId or episode.";
    throw new QavrError("INVALID_ARGUMENT", message, { details: { runId } });
  }
  const isUnshown = parts.shared.unshown.has(target.alias);
  return parts.kit.report({ reference: target.alias, namespace: target.namespace, isUnshown }, outcome);
}

const REFERENCE: FieldRules<RunIds & RunPlace> = {
  runId: true,
  traceId: true,
  threadId: true,
  episode: true,
  namespace: true,
  resourceId: true,
};

/** As {@link locate}. @throws INVALID_ARGUMENT also for a misspelt field, which could mean another namespace */
export function locateOnly(parts: MemoryParts, run: RunReference): ReturnType<typeof locate> {
  checkFields("explain()", run, REFERENCE);
  return locate(parts, run);
}

/** A run in the engine's terms, and the namespace it was learned from. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function locate(
  { options, shared: { runs } }: MemoryParts,
  run: RunReference,
): { readonly alias: string; readonly namespace: string } {
  const { runId, traceId, threadId, episode, namespace, resourceId } = (run ?? {}) as RunReference;
  for (const [name, id] of Object.entries({ runId, traceId, threadId, episode, namespace, resourceId })) {
    if (id !== undefined && !TEXT[0](id, name)) throw illegalOption(name, `${name} must be ${TEXT[1]}`, id);
  }
  const aliases = [
    runId === undefined ? undefined : storable(runId),
    traceId === undefined ? undefined : traceAlias(traceId),
    threadId === undefined ? undefined : threadAlias(threadId),
    episode,
  ].filter((alias) => alias !== undefined);
  const [named] = aliases;
  if (named === undefined || aliases.length > 1) {
    throw new QavrError("INVALID_ARGUMENT", "Name the run by one of runId, traceId, threadId and episode.", {
      details: { given: aliases.length },
    });
  }
  const own = (): string => namespaceOf(options, { threadId, resourceId, requestContext: undefined });
  // While a thread's latest run has no recorded memories, the ledger may have an earlier run under the thread's name.
  const alias = (threadId === undefined ? undefined : runs.latestOn(threadId)) ?? named;
  return { alias, namespace: namespace ?? runs.namespaceOf(named) ?? own() };
}

/** The ids by which an annotation names its run. */
export interface AnnotatedIds {
  readonly runId?: string | null | undefined;
  readonly threadId?: string | null | undefined;
  readonly resourceId?: string | null | undefined;
}

/** The run that an annotation is about, by the best id that it carries. */
export function referenceOf(
  { runId, resourceId }: AnnotatedIds,
  traceId: string | null | undefined,
): RunReference | undefined {
  const owner = resourceId ? { resourceId } : {};
  if (runId) return { runId, ...owner };
  return traceId ? { traceId, ...owner } : undefined;
}

/** The run that a score is about. Its thread tells it from others that share its run id, that of a workflow. */
export function scoredRun(
  { shared: { runs } }: Pick<MemoryParts, "shared">,
  ids: AnnotatedIds,
  traceId: string | null | undefined,
): RunReference | undefined {
  const episode = runs.episodeOf(ids.runId ?? undefined, ids.threadId ?? undefined);
  return episode === undefined ? referenceOf(ids, traceId) : { episode };
}
