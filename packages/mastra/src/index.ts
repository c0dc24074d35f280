export { DEFAULT_STORE_PATH, type Outcome, STORE_VARIABLE, type Verdict } from "@qavr/core/adapter";
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
export type { ReportedRun, RunReference } from "./outcomes/report-outcome.js";
export { REPORT_TOOL_NAME, type ReportToolOptions } from "./outcomes/report-outcome-tool.js";
export type { ScorerLike } from "./outcomes/reward-from.js";
export type { FeedbackReward, ScoreRewards, ToReward } from "./outcomes/score-rewards.js";
export { QavrMemory, type QavrMemoryFields } from "./qavr-memory.js";
export {
  type EpisodeReference,
  type Learning,
  type QavrVector,
  type QavrVectorOptions,
  qavrVector,
} from "./qavr-vector.js";
export {
  COLLECTION_BUDGET,
  COLLECTION_TOP_K,
  type CollectionHit,
  type CollectionOptions,
  type CollectionQuery,
  type MemoryCollection,
} from "./recall/collections.js";
export type { ToolCaller } from "./runs/calling-run.js";
export { FINISH_OUTCOMES, type FinishOutcomes, type FinishReason } from "./runs/finish-reasons.js";
export type { RecalledMemory } from "./runs/run-episode.js";
export { CONTEXT_KEY } from "./runs/run-lifecycle.js";
export type { RunInfo, ScopeOption } from "./runs/run-scope.js";
