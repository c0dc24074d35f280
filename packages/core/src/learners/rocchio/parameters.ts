import { ABOVE_0, type FieldRule, NOT_NEGATIVE, oneOf } from "../legality.js";

/** Settings of the `rocchio` learner. */
export interface RocchioOptions {
  /** What moves a memory along a request: the reward minus the expected success, or minus a half. @default "advantage" */
  readonly feedback?: "advantage" | "reward";
  /** Weight of a utility against similarity, at a spread of 0.1. At least 0. @default 6 */
  readonly weight?: number;
  /** Outcomes at which half of a utility is believed, above 0. @default 3 */
  readonly shrinkage?: number;
}

export const ROCCHIO_DEFAULTS: Required<RocchioOptions> = { feedback: "advantage", weight: 6, shrinkage: 3 };

/** The reward that says nothing where no expectation is subtracted. */
export const NEUTRAL_REWARD = 0.5;

export const ROCCHIO_RULES: Readonly<Record<keyof RocchioOptions, FieldRule>> = {
  feedback: oneOf("advantage", "reward"),
  weight: NOT_NEGATIVE,
  shrinkage: ABOVE_0,
};
