import { clamp, sigmoid } from "../../scoring/bounds.js";
import { certainSlope } from "../certain-slope.js";
import { OAR } from "./parameters.js";
import type { OarShared } from "./state.js";

/**
 * The dual number of a run: how far its residual must move what was credited until the model agrees with it. One implicit step,
 * solved by Newton's method from 0:
 *
 *     a = τ (r − sigmoid(l + K a))
 *
 * @param logit l, what the model said of the run
 * @param variance K, how far the logit moves when the dual number moves by 1
 * @param weight τ, how far the outcome is believed, (0, 1]
 */
export function dualNumber(logit: number, reward: number, variance: number, weight: number, steps: number): number {
  let dual = 0;
  for (let step = 0; step < steps; step++) {
    const probability = sigmoid(logit + variance * dual);
    dual += (weight * (reward - probability) - dual) / (1 + variance * weight * curvature(probability));
  }
  return dual;
}

/** Curvature of the logistic likelihood, not too flat for a step: `max(0.05, P (1 − P))`. */
export function curvature(probability: number): number {
  return Math.max(OAR.leastCurvature, probability * (1 - probability));
}

/** What is left of a memory's prior variance: `k = 1.3 / (1 + 0.05 · information)`. */
export function remainingVariance(information: number): number {
  return OAR.memoryVariance / (1 + OAR.settling * information);
}

/**
 * How a run's residual is shared among the memories that it showed. A good surprise goes by relevance. Of the blame for a bad
 * one, half goes to those that are suspected already, so that a good memory beside a bad one is not punished for its company.
 *
 *     e_m = exp(−u_m / 0.5)        g_m = w_m (0.5 + 0.5 · e_m Σ w / Σ w e)
 *
 * @param weights w, relevance times the exposure's share
 * @param logits u = v · z of each memory before the run
 */
export function shareSurprise(weights: readonly number[], logits: readonly number[], good: boolean): readonly number[] {
  if (good) return weights;
  const suspicion = logits.map((logit) => Math.exp(clamp(-logit / OAR.suspicionScale, -20, 20)));
  let suspected = 0;
  let total = 0;
  weights.forEach((weight, i) => {
    suspected += weight * (suspicion[i] as number);
    total += weight;
  });
  return weights.map(
    (weight, i) => weight * (1 - OAR.suspicion + (OAR.suspicion * (suspicion[i] as number) * total) / suspected),
  );
}

/**
 * How far learning may move the order, in [0, 1]: closed unless the slope of runs' surprises on what was predicted for them
 * stands above 0 by 0.6 standard errors.
 *
 *     n = den + 0.5        gate = clamp((num / n − 0.6 √(0.2 / n)) / 0.08, 0, 1)
 */
export function gate({ gateNumerator, gateDenominator }: OarShared): number {
  const seen = gateDenominator + OAR.gatePrior;
  return clamp(certainSlope(gateNumerator, seen, OAR.gateErrors, OAR.surpriseVariance) / OAR.gateFull, 0, 1);
}

/**
 * How far memories are ranked by what they are worth whatever the request, in [0, 1]: as far as that predicts runs better than
 * vectors do. Near 0 where requests differ, near 1 where they are all of one kind.
 *
 *     n = den + 2        share = clamp(num / n − 0.3 √(0.2 / n), 0, 1)
 */
export function scalarShare({ scalarNumerator, scalarDenominator }: OarShared): number {
  const seen = scalarDenominator + OAR.scalarPrior;
  return clamp(certainSlope(scalarNumerator, seen, OAR.scalarErrors, OAR.surpriseVariance), 0, 1);
}

/**
 * What a boost is worth: it must come from requests like this one. `y · cos(v, z) / 0.6`
 *
 * @param logit y = v · z > 0
 * @param norm |v|
 */
export function boost(logit: number, norm: number): number {
  return (logit * logit) / norm / OAR.boostCosine;
}

/** What a penalty is worth `age` runs after the memory was last shown: `y · e^(−age / 3000)`, so that it gets another chance. */
export function penalty(utility: number, age: number): number {
  return utility * Math.exp(-age / OAR.forgiveness);
}

/** Share of a collection's runs that were voted on, slow to be believed: `voted / (runs + 10)`. */
export function voteRate({ votedRuns, lessons }: OarShared): number {
  return votedRuns / (lessons + OAR.voteWarmup);
}

/**
 * Bonus of a memory that was never tried, for the top of the list: `0.6 (1 − 0.5 · vote rate) · standing⁴`.
 *
 * @param standing in [0, 1]
 */
export function freshness(standing: number, votes: number): number {
  const square = standing * standing;
  return OAR.freshBonus * (1 - OAR.freshVoted * votes) * square * square;
}

/** What is left of a bonus after `evidence` runs: `bonus / (1 + n / 5)`. */
export function tried(bonus: number, evidence: number): number {
  return bonus / (1 + evidence / OAR.freshEvidence);
}

/**
 * What a memory loses for being like one that is shown above it: `cos² / (1 + n / 10)`, 0 where they point apart.
 *
 * @param cosine of their vectors
 * @param evidence n, of the memory itself
 */
export function overlap(cosine: number, evidence: number): number {
  return cosine > 0 ? (OAR.overlap * cosine * cosine) / (1 + evidence / OAR.overlapEvidence) : 0;
}

/** The expected advantage whatever the request: `a / (n + 5)`. In (−1, 1) but for votes. Unit: reward. */
export function scalarUtility(advantage: number, evidence: number): number {
  return advantage / (evidence + OAR.scalarShrinkage);
}
