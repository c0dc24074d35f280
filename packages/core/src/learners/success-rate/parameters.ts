import { type FieldRule, UNIT } from "../legality.js";

/** Settings of the `successRate` learner. */
export interface SuccessRateOptions {
  /** Share of the rate in the score, in [0, 1]; the rest is similarity. @default 0.3, as QAVR weighs its q */
  readonly rateWeight?: number;
  /** Rate of a memory without outcomes, in [0, 1]. @default 0.5 */
  readonly initialRate?: number;
}

export const SUCCESS_RATE_DEFAULTS: Required<SuccessRateOptions> = { rateWeight: 0.3, initialRate: 0.5 };

export const SUCCESS_RATE_RULES: Readonly<Record<keyof SuccessRateOptions, FieldRule>> = {
  rateWeight: UNIT,
  initialRate: UNIT,
};
