import type { LogFields, Logger } from "@qavr/core";

/**
 * Every code that this package logs, with the one sentence that docs/reference/log-codes.md prints for it. No line above
 * debug level carries anybody's text.
 */
export const LOG_CODES = {
  NO_OUTCOME_TRACKING: "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends.",
  RANKING_FAILED: "Ranking failed; the host's own first results were returned.",
  EVALUATE_FAILED: "The evaluate function threw or returned something that is no verdict; the outcome stays unknown.",
  OUTCOME_NOT_RECORDED: "The end of a run could not be recorded.",
  EPISODE_NOT_RESUMED: "An interrupted run's episode could not be reopened; the resumed run starts a new one.",
} as const;

/** A stable identifier of one kind of log line. */
export type LogCode = keyof typeof LOG_CODES;

/** Writes one coded line, silently when there is no logger. */
export type Log = (
  level: "debug" | "info" | "warn" | "error",
  code: LogCode,
  message: string,
  fields?: Omit<LogFields, "code">,
) => void;

/** Binds a logger; a logger that throws is ignored, since a log line must not fail a run. */
export function createLog(logger: Logger | undefined): Log {
  return (level, code, message, fields) => {
    try {
      logger?.[level]?.(message, { ...fields, code });
    } catch {
      // Nothing left to tell.
    }
  };
}
