/** Codes that adapters share: the same trouble, whatever the framework. Each with the sentence that docs/reference/log-codes.md prints. */
export const SHARED_LOG_CODES = {
  RANKING_FAILED: "Ranking failed; the host's own first results were returned.",
  EVALUATE_FAILED: "The evaluate function threw or returned something that is no verdict; its word is left out.",
  OUTCOME_NOT_RECORDED: "The end of a run could not be recorded.",
  EPISODE_NOT_RESUMED: "An interrupted run's episode could not be reopened; the resumed run starts a new one.",
} as const;

/** Codes of trouble that keeps a memory from learning: somebody must hear of it, logger or not. */
export const UNHEARD_LOG_CODES = ["RANKING_FAILED", "EVALUATE_FAILED", "OUTCOME_NOT_RECORDED"] as const;
