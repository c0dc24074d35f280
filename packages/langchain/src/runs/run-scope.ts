import { QavrError } from "@qavr/core";
import { scopeName } from "@qavr/core/adapter";

/** What a function that chooses a namespace, a context or a verdict may know of a run. */
export interface RunInfo {
  /** Id of the root run; undefined outside any run. */
  readonly runId: string | undefined;
  /** Metadata of the root run. `configurable` is not part of it: LangChain shows that to tracers only. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
  /** What the root run was given; undefined outside any run. */
  readonly input: unknown;
}

/**
 * A fixed name, or a function of the run.
 * - a string is the default for runs whose metadata names none (`qavr_namespace`, `qavr_context`)
 * - a function decides alone; undefined means `default`
 */
export type ScopeOption = string | ((run: RunInfo) => string | undefined);

/** The scope of learning of one retrieval. */
export interface RunScope {
  readonly namespace: string;
  readonly context: string;
}

/** Metadata keys of the root run that name its scope. */
export const SCOPE_KEYS = { namespace: "qavr_namespace", context: "qavr_context" } as const;

/**
 * Namespace and context of a retrieval inside `run`.
 *
 * @throws INVALID_ARGUMENT when a function throws, or it or the metadata gives something else than a string that is not empty, INVALID_ID or
 * LIMIT_EXCEEDED for a string that no ledger can keep: falling back to a shared namespace would mix what must stay apart.
 */
export function scopeOf(
  options: { readonly namespace?: ScopeOption | undefined; readonly context?: ScopeOption | undefined },
  run: RunInfo,
): RunScope {
  return {
    namespace: resolve("namespace", options.namespace, run),
    context: resolve("context", options.context, run),
  };
}

function resolve(what: keyof RunScope, option: ScopeOption | undefined, run: RunInfo): string {
  return scopeName(
    what,
    typeof option === "function" ? chosen(what, option, run) : (run.metadata[SCOPE_KEYS[what]] ?? option),
  );
}

/** What an application's function says. */
function chosen(what: keyof RunScope, choose: (run: RunInfo) => string | undefined, run: RunInfo): string | undefined {
  try {
    return choose(run);
  } catch (cause) {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `The function ${what} threw for a run, which learns nothing without a ${what}. Check what it reads from the run's metadata.`,
      { details: { option: what }, cause },
    );
  }
}
