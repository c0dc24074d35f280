import type { RequestContext } from "@mastra/core/request-context";
import { QavrError } from "@qavr/core";
import { scopeName } from "@qavr/core/adapter";

/** What a function that chooses a namespace, a context or a verdict may know of a run. */
export interface RunInfo {
  readonly threadId: string | undefined;
  readonly resourceId: string | undefined;
  /** The run's request context; undefined where a score or feedback arrives by itself. HTTP clients may have filled it. */
  readonly requestContext: RequestContext | undefined;
}

/** A fixed name, or a function of the run; undefined means `default`. */
export type ScopeOption = string | ((run: RunInfo) => string | undefined);

/** The scope of learning of one run. */
export interface RunScope {
  readonly namespace: string;
  readonly context: string;
}

/**
 * Namespace and context of a run.
 *
 * @throws INVALID_ARGUMENT when a function throws or gives something else than a string that is not empty, INVALID_ID or LIMIT_EXCEEDED
 * for a string that no ledger can keep: falling back to a shared namespace would mix what must stay apart.
 */
export function scopeOf(
  options: { readonly namespace?: ScopeOption | undefined; readonly context?: ScopeOption | undefined },
  run: RunInfo,
): RunScope {
  return { namespace: namespaceOf(options, run), context: resolve("context", options.context, run) };
}

/** Namespace of a run, where nothing is asked about its kind of task. @throws as {@link scopeOf} */
export function namespaceOf({ namespace }: { readonly namespace?: ScopeOption | undefined }, run: RunInfo): string {
  return resolve("namespace", namespace, run);
}

function resolve(what: keyof RunScope, option: ScopeOption | undefined, run: RunInfo): string {
  return scopeName(what, typeof option === "function" ? chosen(what, option, run) : option);
}

/** What an application's function says; some of its runs have no request context. */
function chosen(what: keyof RunScope, choose: (run: RunInfo) => string | undefined, run: RunInfo): string | undefined {
  try {
    return choose(run);
  } catch (cause) {
    const otherwise = what === "namespace" ? ", or name the namespace where a run is named: { runId, namespace }" : "";
    throw new QavrError(
      "INVALID_ARGUMENT",
      `The function qavr.${what} threw for a run ${run.requestContext ? "with" : "without"} a request context. Let it do without one${otherwise}.`,
      { details: { option: what }, cause },
    );
  }
}
