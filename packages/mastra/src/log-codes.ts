import type { Logger } from "@qavr/core";
import { createLog, SHARED_LOG_CODES } from "@qavr/core/adapter";

/** Codes of this adapter alone. */
const OWN_CODES = {
  SEMANTIC_RECALL_OFF: "Semantic recall is off and no collection is recalled, so nothing is learned.",
  SEMANTIC_RECALL_REPLACED:
    "An agent's own semantic recall replaces the memory's, so nothing is learned about messages.",
  RUN_WITHOUT_THREAD: "An agent ran without a thread, so nothing is recalled or learned.",
  HISTORY_OFF: "Message history is off, so Mastra stores no messages and semantic recall finds none.",
  LEDGER_BESIDE_REMOTE_STORAGE: "The storage is remote but the ledger is a local file, so instances learn apart.",
  QUERY_OUTSIDE_RUN: "A vector store that shares a memory was queried outside its runs, so nothing is learned.",
  LISTED_OUTSIDE_RUN: "Ranked tools or skills were listed outside any run of their memory, so they are not ranked.",
  SKILLS_NOT_RANKED: "This version of Mastra lists skills without their run, so they are not ranked.",
  END_UNKNOWN: "Mastra did not give a run's result, so its end is no evidence.",
  ENGINE_NOT_SHARED:
    "Many memories with different options share a ledger: if a function makes them, runs teach nothing.",
  COLLECTION_FAILED: "A collection could not be searched; the run goes on without it.",
  ECHOES_DROPPED: "A recall left out earlier questions that repeat the request.",
  EPISODE_NOT_SUSPENDED: "A suspended run's episode could not be recorded, so another process cannot resume it.",
  NOT_FORGOTTEN: "The learned state of deleted messages could not be forgotten.",
  NOT_REVISED: "Evidence or vectors of changed or cloned messages were not adjusted.",
  SCORE_IGNORED: "A score or feedback cannot be read as a reward or cannot reach its run.",
  ALREADY_REWARDED: "A score or feedback came again with another value; the first one counts.",
} as const;

/** A code that only this adapter logs. */
export type OwnLogCode = keyof typeof OWN_CODES;

/**
 * Every code that this package logs, each with the sentence of docs/reference/log-codes.md. Lines above debug level carry no
 * user's text.
 */
export const MASTRA_LOG_CODES: typeof SHARED_LOG_CODES & typeof OWN_CODES = { ...SHARED_LOG_CODES, ...OWN_CODES };

/** A stable identifier of one kind of log line. */
export type MastraLogCode = keyof typeof MASTRA_LOG_CODES;

/** Logs one warning. Without a logger it is a process warning. */
export function warn(logger: Logger | undefined, code: OwnLogCode, message: string): void {
  createLog(logger, [code])("warn", code, message);
}
