export {
  DEFAULT_STORE_PATH,
  DISABLED_VARIABLE,
  type Evaluate,
  MAX_FETCH_K,
  type Outcome,
  type ScopeOption,
  STORE_VARIABLE,
  type Verdict,
} from "@qavr/core/adapter";
export type { ForgetScope } from "./learned-messages.js";
export type {
  EndedTurn,
  EngineFields,
  FinishedAgentRun,
  FoundMemory,
  LearningOptions,
  ReportToolOptions,
  SemanticRecallOptions,
} from "./learning-options.js";
export { MASTRA_LOG_CODES, type MastraLogCode } from "./log-codes.js";
export type { ReportedRun, RunReference } from "./outcomes/report-outcome.js";
export { REPORT_TOOL_NAME } from "./outcomes/report-outcome-tool.js";
export type { FinishedWorkflow } from "./outcomes/report-verdicts.js";
export type { ScorerLike } from "./outcomes/reward-from.js";
export type { FeedbackReward, ScoreRewards, ToReward } from "./outcomes/score-rewards.js";
export { QavrMemory, type QavrMemoryFields, type RunView } from "./qavr-memory.js";
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
export { qavrRoutes, type RoutesOptions } from "./routes.js";
export type { RecalledEntry } from "./runs/agent-run.js";
export type { ToolCaller } from "./runs/calling-run.js";
export { FINISH_OUTCOMES, type FinishOutcomes, type FinishReason } from "./runs/finish-reasons.js";
export { REQUEST_CONTEXT_KEY } from "./runs/run-lifecycle.js";
export type { AgentRunInfo } from "./runs/run-scope.js";
