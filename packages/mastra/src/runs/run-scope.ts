import type { RequestContext } from "@mastra/core/request-context";
import { type RunScope, type ScopeOptions, type ScopeRules, scopeOf, scopePart } from "@qavr/core/adapter";

/** The facts of a run that functions of an application get: those that choose a namespace or context, and those that judge. */
export interface AgentRunInfo {
  readonly threadId: string | undefined;
  readonly resourceId: string | undefined;
  /** The run's request context; undefined for a score or feedback that arrives by itself. HTTP clients may have filled it. */
  readonly requestContext: RequestContext | undefined;
}

/** A request context with or without a schema, as Mastra's own options declare it. */
// biome-ignore lint/suspicious/noExplicitAny: a context with a schema does not extend one of unknown values
export type GivenContext = RequestContext<any>;

const RULES: ScopeRules<AgentRunInfo> = {
  failed(part, { requestContext }) {
    const otherwise = part === "namespace" ? ", or name the namespace where a run is named: { runId, namespace }" : "";
    return `The function qavr.${part} threw for a run ${requestContext ? "with" : "without"} a request context. Let it do without one${otherwise}.`;
  },
};

/** Namespace and context of a run. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function scopeOfRun(options: ScopeOptions<AgentRunInfo>, run: AgentRunInfo): RunScope {
  return scopeOf(options, run, RULES);
}

/** Namespace of a run, for callers without need of its context. @throws as {@link scopeOfRun} */
export function namespaceOf(options: ScopeOptions<AgentRunInfo>, run: AgentRunInfo): string {
  return scopePart("namespace", options, run, RULES);
}
