import { ABOVE_0, type FieldRule, NOT_NEGATIVE } from "../legality.js";

/** Settings of the `globalAdvantage` learner. */
export interface GlobalAdvantageOptions {
  /** Weight of an advantage against similarity, at a spread of 0.1. At least 0. @default 1.5 */
  readonly weight?: number;
  /** Outcomes at which half of an advantage is believed, above 0. @default 5 */
  readonly shrinkage?: number;
}

export const GLOBAL_ADVANTAGE_DEFAULTS: Required<GlobalAdvantageOptions> = { weight: 1.5, shrinkage: 5 };

export const GLOBAL_ADVANTAGE_RULES: Readonly<Record<keyof GlobalAdvantageOptions, FieldRule>> = {
  weight: NOT_NEGATIVE,
  shrinkage: ABOVE_0,
};
