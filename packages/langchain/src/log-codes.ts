import { type Log as CodedLog, SHARED_LOG_CODES } from "@qavr/core/adapter";

/**
 * Every code that this package logs, with the one sentence that docs/reference/log-codes.md prints for it. No line above
 * debug level carries anybody's text.
 */
export const LOG_CODES: typeof SHARED_LOG_CODES & { readonly NO_OUTCOME_TRACKING: string } = {
  ...SHARED_LOG_CODES,
  NO_OUTCOME_TRACKING: "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends.",
};

/** A stable identifier of one kind of log line. */
export type LogCode = keyof typeof LOG_CODES;

/** Writes one of this package's lines. */
export type Log = CodedLog<LogCode>;
