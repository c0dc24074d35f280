export { type RecentMap, recentMap } from "../embedding/recent-map.js";
export { checkOutcome } from "../engine/check.js";
export { checkLoop, type LoopFinding, readLoop } from "../engine/check-loop.js";
export { ignored } from "../engine/outcomes.js";
export {
  ABOVE_0,
  checkFields,
  checkObject,
  type Defined,
  definedOnly,
  type FieldRule,
  type FieldRules,
  FUNCTION,
  isThenable,
  oneOf,
  RATE,
  resolveOptions,
  SWITCH,
  TEXT,
  whole,
} from "../errors/field-rules.js";
export { illegalOption, quoted } from "../errors/illegal-option.js";
export { withMembers } from "../resilience/with-members.js";
export { RECENT_FROM, type Recency, withRecency } from "../scoring/recency.js";
export { assertName } from "../store/validate.js";
export {
  bareHandle,
  cutNote,
  type EpisodeOfRun,
  fieldsOf,
  REPORT_DESCRIPTION,
  REPORT_SCHEMA,
  type RepairedReport,
  type ReportedOutcome,
  repairReport,
  sortVotes,
  type Votes,
} from "./agent-report.js";
export {
  type Described,
  type DescribedHit,
  describedSearch,
  placesWithin,
  SKILL_CHARACTERS,
  sizeOfSkill,
  withinBudget,
} from "./described.js";
export { withoutExcessMarks } from "./excess-marks.js";
export { type ReadMemory, type RunTexts, shortInput, type ToolStep } from "./find-used.js";
export { groupIn, toLabel } from "./label.js";
export { createLog, type LineFields, type Log, SHARED_LOG_CODES, type SharedLogCode } from "./log-codes.js";
export {
  DEFAULT_STORE_PATH,
  DISABLED_VARIABLE,
  isEnabled,
  isPostgres,
  locationOf,
  resolveStore,
  STORE_VARIABLE,
  type StoreLoaders,
  storeInEnvironment,
} from "./named-store.js";
export { nearIdenticalTo } from "./near-identical.js";
export {
  assertRecency,
  COLLECTION_NAME,
  ENGINE_CHOICES_TABLE,
  ENGINE_OPTION_TABLE,
  ENGINE_SETTINGS_TABLE,
  type EngineChoices,
  type EngineSettings,
  fetchSizeFrom,
  MAX_FETCH_K,
  NAME,
  SCOPE,
} from "./options.js";
export {
  type Evaluate,
  fromVerdict,
  idIn,
  type Outcome,
  storableId,
  textId,
  toOutcomeInput,
  type Verdict,
} from "./outcome.js";
export {
  assertProcedures,
  type FoundProcedure,
  PROCEDURE_CHARACTERS,
  PROCEDURE_TOOLS,
  type ProcedureSource,
  type ProcedureTool,
  procedureLine,
  procedureListing,
} from "./procedure-tools.js";
export { excerpt, promptLine } from "./prompt-line.js";
export {
  byRank,
  createRunKit,
  type ReportTarget,
  type RunKit,
  type RunKitOptions,
  type RunRanking,
} from "./run-kit.js";
export {
  type RunScope,
  type ScopeOption,
  type ScopeOptions,
  type ScopeRules,
  scopeOf,
  scopePart,
} from "./run-scope.js";
export {
  createRunSession,
  type ExposureOfRun,
  endOrReport,
  type RunOutcome,
  type RunSession,
  type RunSessionOptions,
} from "./run-session.js";
export { sha256 } from "./sha256.js";
export { storeProblem } from "./store-problem.js";
export { worthShowing } from "./worth-showing.js";
