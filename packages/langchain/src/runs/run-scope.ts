import { type RunScope, type ScopeOptions, type ScopeRules, scopeOf, scopePart } from "@qavr/core/adapter";

/** The facts of a run that functions of an application get: those that choose a namespace or context, and those that judge. */
export interface RunInfo {
  /** Id of the root run; undefined outside any run. */
  readonly runId: string | undefined;
  /**
   * Metadata of the root run, with the `qavr_context` nearest to a retrieval. `configurable` is not part of it: LangChain shows that to
   * tracers only.
   */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  /** Names of the LangGraph nodes and tools around a retrieval, the outermost first, each once. Undefined where nothing is retrieved. */
  readonly path?: readonly string[] | undefined;
  /** Input of the root run; undefined outside any run. For `{ input: x }` alone it is `x`: LangChain announces a plain `x` likewise. */
  readonly input: unknown;
}

/** Metadata keys of the root run that name its scope. */
export const SCOPE_KEYS = { namespace: "qavr_namespace", context: "qavr_context" } as const;

/**
 * The kind of task as a router or an agent chose it: the `qavr_context` that a part of the run names, else the nodes and tools around the
 * retrieval, such as `billing` or `tools/ask_refunds`; undefined where there are none. For `qavr({ context: taskOf })`.
 */
export function taskOf({ metadata, path = [] }: RunInfo): string | undefined {
  return (metadata[SCOPE_KEYS.context] as string | undefined) ?? (path.join("/") || undefined);
}

/** The namespace of runs that name none. */
export const DEFAULT_NAMESPACE = "default";

const RULES: ScopeRules<RunInfo> = {
  named: (part, { metadata }) => metadata[SCOPE_KEYS[part]],
  failed: (part) =>
    `The function ${part} threw for a run, which learns nothing without a ${part}. Check what it reads from the run's metadata.`,
};

/** Namespace and context of a retrieval inside `run`. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function scopeOfRun(options: ScopeOptions<RunInfo>, run: RunInfo): RunScope {
  return scopeOf(options, run, RULES);
}

/** Namespace of a run, for callers without need of its context. @throws as {@link scopeOfRun} */
export function namespaceOf(options: ScopeOptions<RunInfo>, run: RunInfo): string {
  return scopePart("namespace", options, run, RULES);
}
