import { SHARED_LOG_CODES } from "@qavr/core/adapter";

/** Codes of this adapter alone. */
const OWN_CODES = {
  NO_OUTCOME_TRACKING: "Memories were retrieved outside any tracked run, so nothing is learned from them.",
  MEMORIES_UNAVAILABLE: "An agent's memories could not be retrieved; it went on without them.",
  FEEDBACK_REFUSED: "LangSmith feedback cannot be used.",
  REFLECTION_FAILED: "A reflection on a run failed, or its answer was malformed; nothing is recorded of it.",
  REFLECTION_SKIPPED: "Too many reflections were under way; a run was not reflected on.",
  SEARCH_NOT_ATTRIBUTED: "A QavrStore was searched directly, which ranks, records and teaches nothing.",
} as const;

/** A code that only this adapter logs. */
export type OwnLogCode = keyof typeof OWN_CODES;

/**
 * Every code that this package logs, each with the sentence of docs/reference/log-codes.md. Lines above debug level carry no
 * user's text.
 */
export const LANGCHAIN_LOG_CODES: typeof SHARED_LOG_CODES & typeof OWN_CODES = { ...SHARED_LOG_CODES, ...OWN_CODES };

/** The warning of NO_OUTCOME_TRACKING. */
export const NO_TRACKING: string =
  "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends. " +
  "Wrap the chain, graph or agent with memory.track(runnable), or pass callbacks: [memory.handler]; " +
  "inside a plain function pass the run's config on: retriever.invoke(query, config).";
