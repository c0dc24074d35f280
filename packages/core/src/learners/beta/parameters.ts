import { ABOVE_0, type FieldRule, NOT_NEGATIVE, oneOf } from "../legality.js";

/** What a memory is ranked by: its posterior mean, an upper bound of it, or a draw from the posterior. */
export type BetaPolicy = "mean" | "ucb" | "thompson";

/** Settings of the `beta` learner. */
export interface BetaOptions {
  /** @default "mean" */
  readonly policy?: BetaPolicy;
  /** Strength of the prior in outcomes, in (0, 1e9]. @default 5 */
  readonly shrinkage?: number;
  /** Weight of a probability against similarity, at a spread of 0.1. At least 0. @default 1 */
  readonly weight?: number;
  /** Bonus of the upper bound for a memory without outcomes, times √shrinkage. At least 0. @default 0.2 */
  readonly exploration?: number;
}

export const BETA_DEFAULTS: Required<BetaOptions> = { policy: "mean", shrinkage: 5, weight: 1, exploration: 0.2 };

/** The rate of success that all memories of a collection share starts at 5 of 10. */
export const PRIOR_RATE = 0.5;
export const PRIOR_EVIDENCE = 10;

/** More outcomes than anybody will see. */
const STRONGEST_PRIOR = 1e9;

export const BETA_RULES: Readonly<Record<keyof BetaOptions, FieldRule>> = {
  policy: oneOf("mean", "ucb", "thompson"),
  shrinkage: [(value) => ABOVE_0[0](value) && (value as number) <= STRONGEST_PRIOR, "in (0, 1e9]"],
  weight: NOT_NEGATIVE,
  exploration: NOT_NEGATIVE,
};
