import { QavrError } from "../errors/qavr-error.js";
import { assertName } from "../store/validate.js";

/** A fixed name, or a function of the run; undefined means `default`. */
export type ScopeOption<Run> = string | ((run: Run) => string | undefined);

/** Scope of learning: runs that may learn from each other share a namespace; a context is a kind of task in it. */
export interface RunScope {
  readonly namespace: string;
  readonly context: string;
}

/** Options that choose the scope of a run. */
export interface ScopeOptions<Run> {
  readonly namespace?: ScopeOption<Run> | undefined;
  readonly context?: ScopeOption<Run> | undefined;
}

/** How one framework names the scope of a run. */
export interface ScopeRules<Run> {
  /** A name that the run itself carries; it replaces a fixed name, not a function. */
  readonly named?: (part: keyof RunScope, run: Run) => unknown;
  /** The error message for a function that threw. */
  readonly failed: (part: keyof RunScope, run: Run) => string;
}

/**
 * One part of a run's scope. A wrong name is refused: falling back to a shared namespace would mix what must stay apart.
 *
 * @throws INVALID_ARGUMENT when the function throws or returns something other than a non-empty string, INVALID_ID or
 * LIMIT_EXCEEDED for a string that no ledger can keep
 */
export function scopePart<Run>(
  part: keyof RunScope,
  options: ScopeOptions<Run>,
  run: Run,
  rules: ScopeRules<Run>,
): string {
  const option = options[part];
  const name: unknown =
    typeof option === "function" ? chosen(part, option, run, rules) : (rules.named?.(part, run) ?? option);
  if (name === undefined || name === null) return "default";
  if (typeof name === "string" && name !== "") {
    assertName(name, part);
    return name;
  }
  throw new QavrError(
    "INVALID_ARGUMENT",
    `The ${part} of a run must be a string that is not empty. Received ${typeof name}.`,
    { details: { part, received: typeof name } },
  );
}

/** Namespace and context of a run. @throws as {@link scopePart} */
export function scopeOf<Run>(options: ScopeOptions<Run>, run: Run, rules: ScopeRules<Run>): RunScope {
  return {
    namespace: scopePart("namespace", options, run, rules),
    context: scopePart("context", options, run, rules),
  };
}

function chosen<Run>(
  part: keyof RunScope,
  choose: (run: Run) => string | undefined,
  run: Run,
  { failed }: ScopeRules<Run>,
): string | undefined {
  try {
    return choose(run);
  } catch (cause) {
    throw new QavrError("INVALID_ARGUMENT", failed(part, run), { details: { option: part }, cause });
  }
}
