export { type CompactOptions, compact } from "./compact.js";
export { comparePolicies } from "./compare-policies.js";
export { type ForgetOptions, forget } from "./forget.js";
export { exportState, importState, type LearnedState } from "./learned-state.js";
export { replay } from "./replay.js";
export type {
  CompactionReport,
  PolicyEstimate,
  PolicyReport,
  RepairReport,
  ReplayReport,
  RevocationReport,
  VerifyReport,
} from "./reports.js";
export { type CopyOptions, copyLearned, type ReviseOptions, revise } from "./revise.js";
export { type RevokeOptions, revoke } from "./revoke.js";
export { repair, verify } from "./verify.js";
