import { clamp } from "@qavr/core/learner";
import { OAR1 } from "./parameters.js";
import type { Oar1Shared } from "./state.js";

/** Remaining prior variance of a memory: `k = 1.3 / (1 + 0.05 · information)`. */
export function remainingVariance(information: number): number {
  return OAR1.memoryVariance / (1 + OAR1.settling * information);
}

/**
 * Influence of learning on the order, in [0, 1]. It is 0 unless the slope of runs' surprises on their predictions lies above 0 by
 * 0.6 standard errors.
 *
 *     n = den + 0.5        gate = clamp((num / n − 0.6 √(0.2 / n)) / 0.08, 0, 1)
 */
export function gate({ gateNumerator, gateDenominator }: Oar1Shared): number {
  const seen = gateDenominator + OAR1.gatePrior;
  return clamp(certainSlope(gateNumerator, seen, OAR1.gateErrors, OAR1.surpriseVariance) / OAR1.gateFull, 0, 1);
}

/**
 * Share of the scalar advantages in the ranking, in [0, 1]: as far as they predict runs better than vectors do. Near 0 when requests
 * differ, near 1 when they are all of one kind.
 *
 *     n = den + 2        share = clamp(num / n − 0.3 √(0.2 / n), 0, 1)
 */
export function scalarShare({ scalarNumerator, scalarDenominator }: Oar1Shared): number {
  const seen = scalarDenominator + OAR1.scalarPrior;
  return clamp(certainSlope(scalarNumerator, seen, OAR1.scalarErrors, OAR1.surpriseVariance), 0, 1);
}

/**
 * Value of a boost, larger when it was learned from requests like this one: `y · cos(v, z) / 0.6`
 *
 * @param logit y = v · z > 0
 * @param norm |v|
 */
export function boost(logit: number, norm: number): number {
  return (logit * logit) / norm / OAR1.boostCosine;
}

/** Value of a penalty `age` runs after the memory was last shown: `y · e^(−age / 3000)`. It fades, so that the memory is tried again. */
export function penalty(utility: number, age: number): number {
  return utility * Math.exp(-age / OAR1.forgiveness);
}

/** Share of a collection's runs with votes, drawn towards 0: `voted / (runs + 10)`. */
export function voteRate({ votedRuns, lessons }: Oar1Shared): number {
  return votedRuns / (lessons + OAR1.voteWarmup);
}

/**
 * Bonus of an untried memory near the top of the list: `0.6 (1 − 0.5 · vote rate) · relative⁴`.
 *
 * @param relative in [0, 1]
 */
export function freshness(relative: number, votes: number): number {
  const square = relative * relative;
  return OAR1.freshBonus * (1 - OAR1.freshVoted * votes) * square * square;
}

/** Remainder of a bonus after `evidence` runs: `bonus / (1 + n / 5)`. */
export function tried(bonus: number, evidence: number): number {
  return bonus / (1 + evidence / OAR1.freshEvidence);
}

/** The expected advantage whatever the request: `a / (n + 5)`. In (−1, 1) but for votes. Unit: reward. */
export function scalarUtility(advantage: number, evidence: number): number {
  return advantage / (evidence + OAR1.scalarShrinkage);
}

/**
 * Lower bound of the slope of surprises on predictions: the measured slope minus some standard errors.
 *
 *     num / den − errors · √(variance / den)
 *
 * @param numerator sum of surprise times prediction
 * @param denominator sum of squared predictions, > 0
 * @param variance of a run's surprise
 */
function certainSlope(numerator: number, denominator: number, errors: number, variance: number): number {
  return numerator / denominator - errors * Math.sqrt(variance / denominator);
}
