import { between, FINITE, type FieldRule, RATE, UNIT, whole } from "../legality.js";

/** Settings of the `memrl` learner; defaults are the paper's. */
export interface MemrlOptions {
  /** Step of the value update, in (0, 1]. @default 0.3 */
  readonly learningRate?: number;
  /** Value of a memory that never taught, in [−1, 1]. @default 0 */
  readonly initialQ?: number;
  /** Reward of a run that succeeded, in [−1, 1]; a partial reward lies between the two. @default 1 */
  readonly success?: number;
  /** Reward of a run that failed, in [−1, 1]. @default −1 (0 in one of its benchmarks, with initialQ 0.5) */
  readonly failure?: number;
  /** Share of value in the score, in [0, 1]. @default 0.5 */
  readonly valueWeight?: number;
  /** Candidates of the first phase per item shown. Whole number ≥ 1. @default 2 (5 of 3 and 10 of 5 there) */
  readonly candidates?: number;
  /** Similarity that the first phase asks for, in the host's unit. @default none (tuned per benchmark there) */
  readonly threshold?: number;
}

/** No threshold. */
const ANY_SIMILARITY = Number.NEGATIVE_INFINITY;

export const MEMRL_DEFAULTS: Required<MemrlOptions> = {
  learningRate: 0.3,
  initialQ: 0,
  success: 1,
  failure: -1,
  valueWeight: 0.5,
  candidates: 2,
  threshold: ANY_SIMILARITY,
};

/** A standardised value counts at most so many standard deviations. Range 1..5. */
export const CLIP = 3;

const VALUE_RULE: FieldRule = between(-1, 1);

export const MEMRL_RULES: Readonly<Record<keyof MemrlOptions, FieldRule>> = {
  learningRate: RATE,
  initialQ: VALUE_RULE,
  success: VALUE_RULE,
  failure: VALUE_RULE,
  valueWeight: UNIT,
  candidates: whole(1),
  threshold: [(value) => value === ANY_SIMILARITY || FINITE[0](value), "a finite number"],
};
