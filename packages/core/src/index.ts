export { HASHED_DIMS, hashedVector } from "./embedding/hashed-vector.js";
export { contentHash } from "./embedding/text-hash.js";
export { createEngine, ENGINE_DEFAULTS } from "./engine/create-engine.js";
export type { SetTimer } from "./engine/deadline.js";
export type {
  CompactionReport,
  ContextStatus,
  EngineHealth,
  LiftReport,
  NamespaceStatus,
  PolicyEstimate,
  PolicyReport,
  RepairReport,
  ReplayReport,
  RevocationReport,
  SourceFlag,
  SourceStatus,
  VerifyReport,
} from "./engine/reports.js";
export {
  createRunTokens,
  type RemoteOutcome,
  type RunGrant,
  type RunTokens,
  type RunTokensOptions,
} from "./engine/run-tokens.js";
export type {
  Candidate,
  CompactOptions,
  EndOptions,
  Engine,
  EngineOptions,
  EpisodeView,
  ExposureView,
  ForgetOptions,
  LearnedState,
  LogFields,
  Logger,
  OutcomeInput,
  OutcomeReceipt,
  RankedItem,
  Ranking,
  RankRequest,
  RevokeOptions,
} from "./engine/types.js";
export { type Defined, definedOnly } from "./errors/defined-only.js";
export { illegalOption } from "./errors/illegal-option.js";
export { assertKnownFields, type FieldsOf } from "./errors/known-fields.js";
export { printed } from "./errors/printed.js";
export { ERROR_CODES, type ErrorCode, type ErrorDetails, QavrError } from "./errors/qavr-error.js";
export type { AdvantageVector } from "./learners/advantage-vector.js";
export { cav } from "./learners/cav/cav.js";
export type { CavMemory, CavShared } from "./learners/cav/state.js";
export type {
  Contribution,
  Learner,
  Lesson,
  LessonExposure,
  MemoryTable,
  Observation,
  Revisits,
  ScoreRequest,
  Scores,
  ShownMemory,
  StateCodec,
} from "./learners/learner.js";
export { type OarOptions, oar } from "./learners/oar/oar.js";
export type { OarSetting } from "./learners/oar/parameters.js";
export type { OarMemory, OarShared } from "./learners/oar/state.js";
export type { QavrOptions, QavrRewards } from "./learners/qavr/parameters.js";
export { qavr } from "./learners/qavr/qavr.js";
export { formatQavrState, parseQavrState, type QavrDocument } from "./learners/qavr/seed-format.js";
export type { QavrMemory, QavrShared } from "./learners/qavr/state.js";
export type { RequestModel } from "./learners/request-model.js";
export { similarity } from "./learners/similarity/similarity.js";
export { OUTCOME_TIERS, type OutcomeTier } from "./ledger/events.js";
export { ledgerReducer } from "./ledger/reducer.js";
export { ChainCheck, type ChainEnds, type ChainedEntry, chainedEntries, chainOn } from "./store/chain-check.js";
export { ChangeLog, type StateChanges } from "./store/change-log.js";
export { DamageReport } from "./store/damage-report.js";
export {
  type CheckpointColumns,
  type DroppedColumns,
  type EntryColumns,
  type LedgerDigests,
  ledgerDigests,
  type Sha256,
} from "./store/ledger-digests.js";
export { memoryStore } from "./store/memory-store.js";
export { bytesToName, nameToBytes } from "./store/name-bytes.js";
export { type DraftedCommit, type DroppedKey, type KnownKey, NamespaceDraft } from "./store/namespace-draft.js";
export type { Spool, SpooledCommit, WaitingCommit } from "./store/spool.js";
export { stateAddress } from "./store/state-address.js";
export { StateCache } from "./store/state-cache.js";
export { StateOverlay } from "./store/state-overlay.js";
export {
  type Checkpoint,
  type CommitReceipt,
  type Compaction,
  type LedgerCheck,
  type LedgerDamage,
  type LedgerEntry,
  type ReadOptions,
  type Reduce,
  type Reduction,
  type ScannedState,
  type ScanOptions,
  type SequencedEntry,
  STORE_LIMITS,
  type StateRef,
  type StateWrite,
  type Store,
  type StoreCapabilities,
} from "./store/store.js";
export {
  assertBatch,
  assertBytes,
  assertCompaction,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  keptTime,
  sameBytes,
} from "./store/validate.js";
