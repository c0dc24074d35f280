import { type FieldRule, NOT_NEGATIVE, whole } from "../legality.js";

/** Settings of the `jointReplay` learner. */
export interface JointReplayOptions {
  /** Weight of a memory's log-odds against similarity, at a spread of 0.1. At least 0. @default 0.6 */
  readonly weight?: number;
  /** Old runs fitted again after each new one, 0 to 100: more fit better and write more states (about five each). @default 12 */
  readonly revisits?: number;
}

export const JOINT_REPLAY_DEFAULTS: Required<JointReplayOptions> = { weight: 0.6, revisits: 12 };

export const JOINT_REPLAY_RULES: Readonly<Record<keyof JointReplayOptions, FieldRule>> = {
  weight: NOT_NEGATIVE,
  revisits: whole(0, 100),
};

/** The other numbers of `joint-replay@1`, tuned on hwu64, clinc150 and sealtools. They belong to the version. */
export const JOINT_REPLAY = {
  /** Runs that may be fitted again. Range 500..5000. */
  log: 2000,
  /** Share of the mean request that is taken away from a request. Range 0..1. */
  centring: 0.7,
  /** Step of a fit. Range 0.05..1. Unit: logits per unit of surprise. */
  rate: 0.3,
  /** Strength of the Gaussian prior on a memory's vector: 1 / its variance. Range 0.1..1. */
  memoryPrior: 0.3,
  /** The same for the baseline's vector, counted per fit instead of per run: it forgets what was fitted long ago. Range 0..0.1. */
  baselinePrior: 0.02,
  /** Step of the bias, as a share of the others'. Range 0.1..1. */
  biasShare: 0.3,
  /** Evidence at which half of a memory's mean residual is believed in "best" lists. Unit: runs. */
  scalarShrinkage: 5,
} as const;
