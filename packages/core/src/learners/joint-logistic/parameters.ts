import { type FieldRule, NOT_NEGATIVE, RATE } from "../legality.js";

/** Settings of the `jointLogistic` learner. */
export interface JointLogisticOptions {
  /** Weight of a memory's log-odds against similarity, at a spread of 0.1. At least 0. @default 0.4 */
  readonly weight?: number;
  /** Step of a memory's log-odds, divided by the root of its evidence, in (0, 1]. @default 0.5 */
  readonly rate?: number;
}

export const JOINT_LOGISTIC_DEFAULTS: Required<JointLogisticOptions> = { weight: 0.4, rate: 0.5 };

/** Share of its log-odds that a memory loses each time it is shown. Range 0..0.01. */
export const FADE = 0.002;

export const JOINT_LOGISTIC_RULES: Readonly<Record<keyof JointLogisticOptions, FieldRule>> = {
  weight: NOT_NEGATIVE,
  rate: RATE,
};
