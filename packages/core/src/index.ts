export { createEngine, ENGINE_DEFAULTS } from "./engine/create-engine.js";
export type { ContextStatus, EngineHealth, ExtremeMemory, LiftReport, NamespaceStatus } from "./engine/reports.js";
export type {
  Candidate,
  EndOptions,
  Engine,
  EngineOptions,
  EpisodeView,
  ExplainedItem,
  ExposureView,
  LogFields,
  Logger,
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
export { type OarOptions, oar } from "./learners/oar/oar.js";
export { type QValueOptions, qValue } from "./learners/q-value.js";
export { similarity } from "./learners/similarity.js";
export { OUTCOME_TIERS, type OutcomeTier } from "./ledger/events.js";
export type { SetTimer } from "./resilience/timeout.js";
export { memoryStore } from "./store/memory-store.js";
export type { Store } from "./store/store.js";
