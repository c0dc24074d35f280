import type { Logger } from "../engine/options.js";
import { writeLine } from "../engine/write-line.js";
import { definedOnly } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";

/** Codes that every adapter logs, each with the sentence of docs/reference/log-codes.md. */
export const SHARED_LOG_CODES = {
  RANKING_FAILED: "Ranking failed; the host's own first results were returned.",
  EVALUATE_FAILED: "The evaluate function threw or returned no verdict; the run is not judged.",
  OUTCOME_NOT_RECORDED: "The end of a run could not be recorded.",
  STORE_UNUSABLE: "The store cannot be opened, so nothing is learned.",
  NOTHING_TO_CHOOSE_FROM: "Searches find no more memories than are shown, so learning can only reorder them.",
  NOTHING_JUDGED: "Many runs ended and none was judged, so little is learned.",
  OUTCOMES_MISSING: "Most of the latest runs have no outcome.",
  IDS_CHANGE: "The same texts come under new ids, so evidence does not add up.",
  REWARDS_EQUAL: "The latest rewards are all the same, so no memory can be told from another.",
  SIMILARITIES_TIED: "In most retrievals all candidates were equally similar.",
  EPISODE_NOT_RESUMED: "An interrupted run's episode could not be reopened; the resumed run has a new one.",
} as const;

/** A code that every adapter logs. */
export type SharedLogCode = keyof typeof SHARED_LOG_CODES;

/** Codes of conditions that stop learning. Without a logger the first line of each becomes a process warning. */
export const WARNED_LOG_CODES: readonly SharedLogCode[] = (Object.keys(SHARED_LOG_CODES) as SharedLogCode[]).filter(
  (code) => code !== "EPISODE_NOT_RESUMED",
);

/** Fields of one log line. */
export interface LineFields {
  readonly runId?: string | undefined;
  readonly namespace?: string | undefined;
  readonly episode?: string | undefined;
  /** Of memories. */
  readonly ids?: readonly string[] | undefined;
  /** The thrown value. Its message may hold a user's text, so only the debug line repeats it; see {@link createLog}. */
  readonly error?: unknown;
}

/** Writes one coded line, silently when there is no logger. */
export type Log<Code extends string> = (
  level: "debug" | "warn" | "error",
  code: Code,
  message: string,
  fields?: LineFields,
) => void;

/**
 * Binds a logger. An error is logged as `error`, its name, and `reason`, its code if it has one. A second line at debug level has
 * the error and its cause as text. Errors of the logger itself are ignored, since a log line must not fail a run.
 *
 * @param warned Codes whose first line becomes a process warning when there is no logger. All other lines are dropped then.
 */
export function createLog<Code extends string>(
  logger: Logger | undefined,
  warned: readonly NoInfer<Code>[],
): Log<Code> {
  if (!logger) return warnInstead(warned);
  return (level, code, message, { error, ...given } = {}) => {
    const fields = definedOnly(given);
    writeLine(logger, level, message, () => ({ ...fields, ...(error === undefined ? {} : nameOf(error)), code }));
    if (error !== undefined) writeLine(logger, "debug", message, () => ({ ...fields, error: textOf(error), code }));
  };
}

function warnInstead<Code extends string>(warned: readonly Code[]): Log<Code> {
  const left = new Set(warned);
  return (_, code, message, { error } = {}) => {
    if (left.delete(code)) processWarning(code, `${message} ${causeOf(error)}`.trim());
  };
}

/** Messages of this project's errors say what to do; messages of other errors may hold a user's text. */
function causeOf(error: unknown): string {
  if (error === undefined) return "";
  return QavrError.isInstance(error) ? error.message : `The error was of type ${nameOf(error).error}.`;
}

/** A thrown value and its cause as text. */
function textOf(error: unknown): string {
  const cause = QavrError.isInstance(error) ? error.cause : undefined;
  return cause === undefined ? String(error) : `${error} Cause: ${cause}`;
}

/** The parts of a thrown value that hold no user's text. */
function nameOf(error: unknown): { readonly error: string; readonly reason?: string } {
  try {
    const named = typeof error === "object" && error !== null ? (error as { readonly name?: unknown }).name : undefined;
    return {
      error: typeof named === "string" ? named : typeof error,
      ...(QavrError.isInstance(error) ? { reason: error.code } : {}),
    };
  } catch {
    // Any value can be thrown, including a proxy or an object with a throwing getter.
    return { error: "unknown" };
  }
}

function processWarning(code: string, message: string): void {
  nodeProcess()?.emitWarning?.(message, { type: "QavrWarning", code });
}

/** Node's process, where there is one: this package depends on no platform. */
export function processOf(scope: object): ProcessShape | undefined {
  return (scope as { readonly process?: ProcessShape }).process;
}

/** The process, where its functions can be called. That of Next.js's edge runtime has no version, and functions that throw. */
export function nodeProcess(): ProcessShape | undefined {
  const found = processOf(globalThis);
  return found?.version === undefined ? undefined : found;
}

interface ProcessShape {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly version?: string;
  getBuiltinModule?(name: string): unknown;
  emitWarning?(message: string, options: { readonly type: string; readonly code: string }): void;
}
