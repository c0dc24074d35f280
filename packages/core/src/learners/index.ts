/**
 * `@qavr/core/learner`, for learner authors: the contract of a learner, and the parts to build one from. The learners of this package
 * are in `@qavr/core`.
 */
export { fold } from "../embedding/fold.js";
export { HASHED_DIMS, hashedVector } from "../embedding/hashed-vector.js";
export { dequantise } from "../embedding/quantise.js";
export { MAX_DIMS } from "../embedding/request-vector.js";
export { contentHash } from "../embedding/text-hash.js";
export {
  ABOVE_0,
  between,
  type Defined,
  FINITE,
  type FieldRule,
  type FieldRules,
  finiteVector,
  NOT_NEGATIVE,
  oneOf,
  problemOf,
  RATE,
  resolveOptions,
  TIME,
  UNIT,
  whole,
} from "../errors/field-rules.js";
export { blend, rescaledNote, type UnitSimilarities, unitSimilarities } from "../scoring/blend.js";
export { clamp, sigmoid } from "../scoring/bounds.js";
export { groupShares } from "../scoring/group-shares.js";
export { kept } from "../scoring/half-life.js";
export { relativeSimilarities } from "../scoring/relative-similarity.js";
export { mean, spread } from "../scoring/spread.js";
export { daysBetween, laterOf } from "../scoring/time.js";
export { addScaled, dot, toUnit } from "../scoring/vectors.js";
export { contribute, withdraw } from "./contribution.js";
export { curvature, dualNumber, type StepNumbers, shareSurprise } from "./implicit-step.js";
export type {
  Contribution,
  Control,
  GroupOfShown,
  Learner,
  Lesson,
  LessonExposure,
  MemoryTable,
  Observation,
  Revisits,
  ScoreRequest,
  Scores,
  ScoreTerms,
  ShownMemory,
  StateCodec,
} from "./learner.js";
export { keepApart } from "./oar/keep-apart.js";
export { FOLD_SIGNS, Sketches } from "./oar/sketches.js";
export type { OarMemory, OarShared } from "./oar/state.js";
export { DecodedTable, type Judgement, noState, scoreOneByOne } from "./one-by-one.js";
export { leftOf, Q_VALUE_DEFAULTS, type QValueSettings, type QValueShared, type QValueState } from "./q-value.js";
export {
  bytesBehind,
  centre,
  type Direction,
  dimsOf,
  expectedLogit,
  type FirstModel,
  meetRequests,
  type RequestBaseline,
  type RequestModel,
  requestModelCodec,
  withNumbers,
} from "./request-model.js";
export { doubled, RowVectors } from "./row-vectors.js";
export { observeSpread, type RunningSpread, spreadScale } from "./running-spread.js";
