import { type Log as CodedLog, SHARED_LOG_CODES } from "@qavr/core/adapter";

const OWN = {
  SEMANTIC_RECALL_OFF: "Semantic recall is switched off and no collection is recalled, so nothing is learned.",
  SEMANTIC_RECALL_REPLACED:
    "An agent brings a semantic recall of its own, which Mastra takes in place of the memory's, so nothing is learned about messages.",
  HISTORY_OFF: "Message history is switched off, so Mastra stores no messages and semantic recall will find none.",
  LEDGER_BESIDE_REMOTE_STORAGE:
    "The application's storage is remote but the ledger is a local file, so instances would learn apart.",
  QUERY_OUTSIDE_RUN:
    "A vector store that shares a memory was queried outside its runs, so nothing is learned from what it showed.",
  END_UNTOLD: "Mastra did not tell how a run ended, so its end says nothing about its memories.",
  ENGINE_NOT_SHARED:
    "Many memories with different options are open on one ledger: where a function makes them, runs teach nothing.",
  COLLECTION_FAILED: "A memory collection could not be searched; the run goes on without it.",
  EPISODE_NOT_PARKED:
    "The episode of a suspended run could not be recorded; a resume in another process will not find it.",
  NOT_FORGOTTEN: "What was learned about deleted messages could not be forgotten.",
  SCORE_IGNORED: "A score or feedback cannot be read as a reward, or cannot reach its run; it teaches nothing.",
  ALREADY_REWARDED: "A score or feedback arrived a second time with another value; the first one stands.",
} as const;

/**
 * Every code that this package logs, with the one sentence that docs/reference/log-codes.md prints for it. No line above
 * debug level carries anybody's text.
 */
export const LOG_CODES: typeof SHARED_LOG_CODES & typeof OWN = { ...SHARED_LOG_CODES, ...OWN };

/** A stable identifier of one kind of log line. */
export type LogCode = keyof typeof LOG_CODES;

/** Writes one of this package's lines. */
export type Log = CodedLog<LogCode>;
