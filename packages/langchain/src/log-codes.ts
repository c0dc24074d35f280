import { type LogFields, type Logger, QavrError } from "@qavr/core";

/**
 * Every code that this package logs, with the one sentence that docs/reference/log-codes.md prints for it. No line above
 * debug level carries anybody's text.
 */
export const LOG_CODES = {
  NO_OUTCOME_TRACKING: "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends.",
  RANKING_FAILED: "Ranking failed; the host's own first results were returned.",
  EVALUATE_FAILED: "The evaluate function threw or returned something that is no verdict; its word is left out.",
  OUTCOME_NOT_RECORDED: "The end of a run could not be recorded.",
  FEEDBACK_REFUSED: "A feedback of LangSmith cannot be used.",
  REFLECTION_FAILED:
    "A reflection on a run failed, or its answer was malformed; what it would have taught is not recorded.",
  REFLECTION_SKIPPED: "Too many reflections were under way; a run was not reflected on.",
  EPISODE_NOT_RESUMED: "An interrupted run's episode could not be reopened; the resumed run starts a new one.",
} as const;

/** A stable identifier of one kind of log line. */
export type LogCode = keyof typeof LOG_CODES;

/** What a line may carry. */
export interface LineFields {
  readonly runId?: string;
  readonly namespace?: string;
  /** What was thrown. Its message may hold anybody's text, so it is told at debug level only; see {@link createLog}. */
  readonly error?: unknown;
}

/** Writes one coded line, silently when there is no logger. */
export type Log = (level: "warn" | "error", code: LogCode, message: string, fields?: LineFields) => void;

/**
 * Binds a logger. An error is told as `error`, its name, and `reason`, its code if it has one; a second line of the same code
 * at debug level has it as text. A logger that throws is ignored, since a log line must not fail a run.
 */
export function createLog(logger: Logger | undefined): Log {
  const write = (level: "debug" | "warn" | "error", message: string, fields: () => LogFields): void => {
    try {
      logger?.[level]?.(message, fields());
    } catch {
      // Nothing left to tell.
    }
  };
  return (level, code, message, { error, ...fields } = {}) => {
    write(level, message, () => ({ ...fields, ...(error === undefined ? {} : namesOf(error)), code }));
    if (error !== undefined) write("debug", message, () => ({ ...fields, error: String(error), code }));
  };
}

/** What may be said of a thrown value without repeating anybody's text. */
function namesOf(error: unknown): { readonly error: string; readonly reason?: string } {
  try {
    const named = typeof error === "object" && error !== null ? (error as { readonly name?: unknown }).name : undefined;
    return {
      error: typeof named === "string" ? named : typeof error,
      ...(QavrError.isInstance(error) ? { reason: error.code } : {}),
    };
  } catch {
    // Anything may be thrown, a proxy or a getter included.
    return { error: "unknown" };
  }
}
