export { DEFAULT_STORE_PATH, type Outcome, STORE_VARIABLE, type Verdict } from "@qavr/core/adapter";
export type { ToolCaller } from "./calling-run.js";
export {
  COLLECTION_BUDGET,
  COLLECTION_TOP_K,
  type CollectionHit,
  type CollectionOptions,
  type CollectionQuery,
  type MemoryCollection,
} from "./collections.js";
export { FINISH_OUTCOMES, type FinishOutcomes, type FinishReason } from "./finish-reasons.js";
export type { ForgetScope } from "./forget-messages.js";
export { LOG_CODES, type LogCode } from "./log-codes.js";
export {
  DISABLED_VARIABLE,
  type EndedTurn,
  type EngineFields,
  type Evaluate,
  type FinishedRun,
  MAX_FETCH_K,
  type QavrOptions,
} from "./memory-options.js";
export { QavrMemory, type QavrMemoryFields } from "./qavr-memory.js";
export {
  type EpisodeReference,
  type Learning,
  type QavrVector,
  type QavrVectorOptions,
  qavrVector,
} from "./qavr-vector.js";
export type { ReportedRun, RunReference } from "./report-outcome.js";
export { REPORT_TOOL_NAME, type ReportToolOptions } from "./report-outcome-tool.js";
export type { ScorerLike } from "./reward-from.js";
export type { RecalledMemory } from "./run-episode.js";
export { CONTEXT_KEY } from "./run-lifecycle.js";
export type { RunInfo, ScopeOption } from "./run-scope.js";
export type { FeedbackReward, ScoreRewards, ToReward } from "./score-rewards.js";
