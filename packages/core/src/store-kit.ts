export {
  between,
  type Defined,
  type FieldRule,
  type FieldRules,
  NOT_NEGATIVE,
  oneOf,
  resolveOptions,
  SWITCH,
  whole,
} from "./errors/field-rules.js";
export { illegalOption } from "./errors/illegal-option.js";
export { ledgerReducer } from "./ledger/maintenance-events.js";
export { withOutbox } from "./resilience/with-outbox.js";
export { rendezvous } from "./routing/rendezvous.js";
export { type RoutedStoreOptions, routedStore } from "./routing/routed-store.js";
export { ChangeLog } from "./store/change-log.js";
export { crc32 } from "./store/crc32.js";
export { DamageReport } from "./store/damage-report.js";
export { DAMAGED_STATE } from "./store/damaged.js";
export { assertUndamaged } from "./store/damaged-state.js";
export {
  type ChainedEntry,
  type ChainedKey,
  chainedEntries,
  chainOn,
  checkpointStates,
  isDamagedEnd,
  type LastEntry,
  type LedgerEnds,
  NamespaceCheck,
  namesLastEntry,
} from "./store/ledger-chain.js";
export {
  type CheckpointColumns,
  type DroppedColumns,
  type EntryColumns,
  type LedgerDigests,
  ledgerDigests,
  NO_DIGESTS,
  type Sha256,
  withDigest,
} from "./store/ledger-digests.js";
export type { Outbox, QueuedCommit, WaitingCommit } from "./store/outbox.js";
export { sealState, unsealState } from "./store/sealed-state.js";
export { stateAddress } from "./store/state-address.js";
export { StateCache } from "./store/state-cache.js";
export {
  type Checkpoint,
  type CheckpointChange,
  type CommitReceipt,
  type HeadWork,
  type LedgerCheck,
  type LedgerDamage,
  type LedgerEntry,
  type NamespaceListOptions,
  type NamespacePlace,
  type OutboxHost,
  type OutboxQueue,
  type QueueReceipt,
  type ReadOptions,
  type Reduce,
  type Reduction,
  type Revision,
  type ScannedState,
  type ScanOptions,
  type SequencedEntry,
  STORE_LIMITS,
  type StateChanges,
  type StateRef,
  type StateWrite,
  type Store,
  type StoreCapabilities,
  type StoredState,
  type StorePlaces,
  type TakenKey,
} from "./store/store.js";
export {
  assertBatch,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  bytesToName,
  nameToBytes,
  sameBytes,
  withoutNegativeZero,
} from "./store/validate.js";
export { type OnStates, runOn, WriteOverlay } from "./store/write-overlay.js";
