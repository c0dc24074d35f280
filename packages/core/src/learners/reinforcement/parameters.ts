import { type FieldRule, UNIT } from "../legality.js";

/** Settings of the `reinforcement` learner; defaults are the published ones. */
export interface ReinforcementOptions {
  /** Confidence of a lesson that was never read, in [0, 1]. @default 0.7 */
  readonly initialConfidence?: number;
  /** Share of the missing confidence that a reading adds, in [0, 1]. @default 0.1 */
  readonly growth?: number;
  /** Share of confidence in the score, in [0, 1]; 0 is the host's order. @default 0.3 (published as 0.7 for the lexical score) */
  readonly confidenceWeight?: number;
}

export const REINFORCEMENT_DEFAULTS: Required<ReinforcementOptions> = {
  initialConfidence: 0.7,
  growth: 0.1,
  confidenceWeight: 0.3,
};

export const REINFORCEMENT_RULES: Readonly<Record<keyof ReinforcementOptions, FieldRule>> = {
  initialConfidence: UNIT,
  growth: UNIT,
  confidenceWeight: UNIT,
};
