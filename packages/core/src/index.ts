export { createEngine, ENGINE_DEFAULTS } from "./engine/create-engine.js";
export type { EngineOptions, LogFields, Logger } from "./engine/options.js";
export type {
  ContextStatus,
  EngineHealth,
  ExtremeMemory,
  HistoryOptions,
  LiftReport,
  MemoriesOptions,
  MemoryView,
  NamespaceStatus,
} from "./engine/reports.js";
export type {
  Candidate,
  EndOptions,
  Engine,
  EpisodeView,
  ExplainedItem,
  ExposureView,
  HistoryEvent,
  NotShown,
  OutcomeInput,
  OutcomeReceipt,
  RankedItem,
  Ranking,
  RankRequest,
  UsedMemory,
  UseFinder,
} from "./engine/types.js";
export { ERROR_CODES, type ErrorCode, type ErrorDetails, QavrError } from "./errors/qavr-error.js";
export type { Learner } from "./learners/learner.js";
export { type OarLearner, type OarOptions, oar } from "./learners/oar/oar.js";
export { type QValueLearner, type QValueOptions, qValue } from "./learners/q-value.js";
export { type SimilarityLearner, similarity } from "./learners/similarity.js";
export { OUTCOME_TIERS, type OutcomeTier } from "./ledger/events.js";
export type { SetTimer } from "./resilience/timeout.js";
export { memoryStore } from "./store/memory-store.js";
export type { Store } from "./store/store.js";
