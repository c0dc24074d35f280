import { type Log as CodedLog, SHARED_LOG_CODES } from "@qavr/core/adapter";

/** The codes that no other adapter has. */
const OWN_CODES = {
  NO_OUTCOME_TRACKING: "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends.",
  NOTHING_TO_CHOOSE_FROM:
    "A wrapped retriever finds no more documents than are wanted, so learning can only reorder them.",
  MEMORIES_UNAVAILABLE: "An agent's memories could not be retrieved; it went on without them.",
  FEEDBACK_REFUSED: "A feedback of LangSmith cannot be used.",
  REFLECTION_FAILED:
    "A reflection on a run failed, or its answer was malformed; what it would have taught is not recorded.",
  REFLECTION_SKIPPED: "Too many reflections were under way; a run was not reflected on.",
  SEARCH_NOT_ATTRIBUTED:
    "A QavrStore was searched directly, which ranks and records nothing, so nothing is learned from it.",
} as const;

/**
 * Every code that this package logs, with the one sentence that docs/reference/log-codes.md prints for it. No line above
 * debug level carries anybody's text.
 */
export const LOG_CODES: typeof SHARED_LOG_CODES & typeof OWN_CODES = { ...SHARED_LOG_CODES, ...OWN_CODES };

/** A stable identifier of one kind of log line. */
export type LogCode = keyof typeof LOG_CODES;

/** Writes one of this package's lines. */
export type Log = CodedLog<LogCode>;
