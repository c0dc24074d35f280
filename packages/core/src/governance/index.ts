export type { OutcomeRules, SourceCap } from "../ledger/events.js";
export type { Governance, SourceFlag, SourceStatus } from "../ledger/governance.js";
export { type GovernanceOptions, governance } from "./governance.js";
export {
  createRunTokens,
  type RemoteOutcome,
  type RunGrant,
  type RunTokens,
  type RunTokensOptions,
} from "./run-tokens.js";
