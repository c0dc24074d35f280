export { type CompactOptions, compact } from "./compact.js";
export { comparePolicies } from "./compare-policies.js";
export { copyLedger, type LedgerCopy } from "./copy-ledger.js";
export { type ForgetOptions, forget } from "./forget.js";
export { exportState, importState, type LearnedState } from "./learned-state.js";
export { type MoveOptions, moveNamespace } from "./move-namespace.js";
export type { Progress } from "./progress.js";
export { type PrunableCollection, type PruneOptions, type PruneRule, prune, voteScore } from "./prune.js";
export { replay } from "./replay.js";
export type {
  CompactionReport,
  MoveReport,
  PolicyEstimate,
  PolicyReport,
  PrunedMemory,
  PruneReport,
  RepairReport,
  ReplayReport,
  RevocationReport,
  VerifyReport,
} from "./reports.js";
export { type CopyOptions, copyLearned, type ReviseOptions, revise } from "./revise.js";
export { type RevokeOptions, revoke } from "./revoke.js";
export { repair, verify } from "./verify.js";
