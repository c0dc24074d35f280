import { type OutcomeReceipt, QavrError } from "@qavr/core";
import { ignored, type Outcome, reportOrIgnore, toOutcomeInput } from "@qavr/core/adapter";
import type { Internals } from "../internals.js";
import { threadAlias, traceAlias } from "../runs/run-lifecycle.js";
import { namespaceOf } from "../runs/run-scope.js";
import { storable } from "../runs/storable.js";

/** What a run may be called. */
interface RunIds {
  readonly runId: string | undefined;
  readonly traceId: string | undefined;
  /** The latest run on this thread. */
  readonly threadId: string | undefined;
  /** What a run's request context and an explanation call it. */
  readonly episode: string | undefined;
}

/** What tells a run's namespace, where a function chooses it. */
interface RunPlace {
  /** Needed for a run of another process whose namespace follows from more than its thread and resource. */
  readonly namespace?: string | undefined;
  /** Tells a namespace function of whose run it is, where `namespace` is not given. */
  readonly resourceId?: string | undefined;
}

/** A run by one id and no other. */
type ById<Id extends keyof RunIds> = Pick<RunIds, Id> & { readonly [Other in Exclude<keyof RunIds, Id>]?: undefined };

/** Which run is meant: by exactly one of the four ids. */
export type RunReference = RunPlace & { [Id in keyof RunIds]: ById<Id> }[keyof RunIds];

/** The fields of an outcome that say something about a run. */
type Telling = "success" | "reward" | "helpful" | "harmful" | "used";

/** An outcome and the run that it is about. `reward: null` says that nobody knows. */
export type ReportedRun = RunReference &
  Outcome &
  { [Field in Telling]: { readonly [Key in Field]: Outcome[Key] } }[Telling];

/** @throws as `QavrMemory.reportOutcome` does */
export async function reportOutcome(internals: Internals, reported: ReportedRun): Promise<OutcomeReceipt> {
  if (typeof reported !== "object" || reported === null) {
    throw new QavrError("INVALID_ARGUMENT", "reportOutcome takes an object such as { runId, success: true }.");
  }
  const { runId, traceId, threadId, episode, namespace, resourceId, ...outcome } = reported;
  const target = locate(internals, reported);
  const input = toOutcomeInput(outcome, storable);
  if (!internals.enabled) return ignored(target.alias);
  const isUnshown = internals.unshown.has(target.alias);
  return reportOrIgnore(internals.engine, target.alias, input, { namespace: target.namespace, isUnshown });
}

/** A run in the engine's terms, and the namespace it was learned from. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function locate(
  internals: Internals,
  run: RunReference,
): { readonly alias: string; readonly namespace: string } {
  const { runId, traceId, threadId, episode, namespace, resourceId } = (run ?? {}) as RunReference;
  for (const [name, id] of Object.entries({ runId, traceId, threadId, episode, namespace, resourceId })) {
    if (id === undefined || (typeof id === "string" && id !== "")) continue;
    throw new QavrError(
      "INVALID_ARGUMENT",
      `${name} must be a string that is not empty. Received ${typeof id === "string" ? "an empty one" : typeof id}.`,
      { details: { option: name, received: typeof id } },
    );
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
  const own = (): string => namespaceOf(internals.options, { threadId, resourceId, requestContext: undefined });
  // Where a thread's latest run has left nothing, or nothing yet, the ledger may know an earlier one under the thread's name.
  const alias = (threadId === undefined ? undefined : internals.runs.latestOn(threadId)) ?? named;
  return { alias, namespace: namespace ?? internals.runs.namespaceOf(named) ?? own() };
}
