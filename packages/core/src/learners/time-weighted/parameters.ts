import { type FieldRule, UNIT } from "../legality.js";

/** Settings of the `timeWeighted` learner. */
export interface TimeWeightedOptions {
  /** What a memory's recency loses per hour, in [0, 1]; 0 and 1 make time irrelevant. @default 0.01, LangChain's */
  readonly decayRate?: number;
}

export const TIME_WEIGHTED_DEFAULTS: Required<TimeWeightedOptions> = { decayRate: 0.01 };

export const TIME_WEIGHTED_RULES: Readonly<Record<keyof TimeWeightedOptions, FieldRule>> = { decayRate: UNIT };
