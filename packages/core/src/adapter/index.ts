export { ENGINE_OPTIONS } from "../engine/engine-options.js";
export { ignored } from "../engine/outcomes.js";
export { createWorkUnderWay, type WorkUnderWay } from "../engine/work-under-way.js";
export { isThenable } from "../errors/is-thenable.js";
export { assertKnownFields, type FieldsOf } from "../errors/known-fields.js";
export { quoted } from "../errors/printed.js";
export {
  REPORT_DESCRIPTION,
  REPORT_SCHEMA,
  type RepairedReport,
  type ReportedOutcome,
  type ReportSchema,
  recordAgentReport,
  repairReport,
} from "./agent-report.js";
export { awaitBriefly } from "./await-briefly.js";
export { bareHandle } from "./bare-handle.js";
export { byRank } from "./by-rank.js";
export { createLog, type LineFields, type Log } from "./coded-log.js";
export { endJudged, endOrReport } from "./end-or-report.js";
export { SHARED_LOG_CODES, UNHEARD_LOG_CODES } from "./log-codes.js";
export { DEFAULT_STORE_PATH, resolveStore, STORE_VARIABLE, type StoreLoaders } from "./named-store.js";
export { nearIdenticalTo } from "./near-identical.js";
export { type Outcome, toOutcomeInput } from "./outcome.js";
export { outcomePerEpisode } from "./outcome-per-episode.js";
export { type RecentMap, recentMap } from "./recent-map.js";
export { refuseOption } from "./refuse-option.js";
export { reportOrIgnore } from "./report-or-ignore.js";
export { scopeName } from "./scope-name.js";
export type { EpisodeOfRun } from "./shown-names.js";
export { sortVotes, type Votes } from "./sort-votes.js";
export { storableId } from "./storable-id.js";
export { fromVerdict, type Verdict } from "./verdict.js";
export { warnOnce } from "./warn-once.js";
