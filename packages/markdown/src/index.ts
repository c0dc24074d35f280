export type { LessonQuery, LessonsOptions, NewLesson } from "./lesson-options.js";
export type { RankBy } from "./lesson-order.js";
export {
  type LessonCollection,
  type LessonHit,
  type Lessons,
  type MarkdownLesson,
  openLessons,
  type ReadLessons,
} from "./lessons.js";
export type { ArchivedCopy } from "./procedures/archive.js";
export type { Draft, Transcript } from "./procedures/distil.js";
export type { Job } from "./procedures/lifecycle.js";
export type { ProcedureCollection, Procedures } from "./procedures/opened-procedures.js";
export type { LoadedProcedure, MatchTier, Procedure, ProcedureHit, ProcedureMemory } from "./procedures/procedure.js";
export type { ProcedureFinding, ProcedureKind, StatedCounts } from "./procedures/procedure-file.js";
export type { InRun, ProcedureOutcome, ProcedureQuery, ProceduresOptions } from "./procedures/procedure-options.js";
export { openProcedures } from "./procedures/procedures.js";
export type { AskModel, ReviewAction, ReviewProposal } from "./procedures/review.js";
export type { RunEvidence } from "./procedures/run-evidence.js";
export type { WriteReport } from "./procedures/stamp.js";
export { decide as decideTrial, type Outcomes, type TrialVerdict } from "./procedures/trial.js";
export type { LessonRow } from "./reinforcement-table.js";
