import { clamp, sigmoid } from "../scoring/bounds.js";

/** Numbers of an implicit step, part of a learner's version. */
export interface StepNumbers {
  /** Least curvature of the logistic likelihood: bounds the step on runs predicted with certainty. */
  readonly leastCurvature: number;
  /** Share of a surprise that is divided by suspicion and not by relevance, in [0, 1]. */
  readonly suspicion: number;
  /** Logits over which suspicion falls by a factor e. */
  readonly suspicionScale: number;
}

/**
 * The dual number of a run: the size of the step after which the model agrees with the run. One implicit step, solved by Newton's
 * method from 0:
 *
 *     a = τ (r − sigmoid(l + K a))
 *
 * @param logit l, the model's prediction for the run
 * @param variance K, change of the logit per unit of the dual number
 * @param weight τ of the outcome, (0, 1]
 */
export function dualNumber(
  logit: number,
  reward: number,
  variance: number,
  weight: number,
  steps: number,
  numbers: StepNumbers,
): number {
  let dual = 0;
  for (let step = 0; step < steps; step++) {
    const probability = sigmoid(logit + variance * dual);
    dual += (weight * (reward - probability) - dual) / (1 + variance * weight * curvature(probability, numbers));
  }
  return dual;
}

/** Curvature of the logistic likelihood, not too flat for a step: `max(least curvature, P (1 − P))`. */
export function curvature(probability: number, { leastCurvature }: StepNumbers): number {
  return Math.max(leastCurvature, probability * (1 - probability));
}

/**
 * Shares of a run's residual among the memories shown. A share s of it is divided by suspicion: a memory of low utility takes more of it,
 * a good one beside it less.
 *
 *     e_m = exp(−u_m / scale)        g_m = w_m (1 − s + s · e_m Σ w / Σ w e)
 *
 * @param weights w, relevance times the exposure's share
 * @param logits u of each memory before the run
 */
export function shareSurprise(
  weights: readonly number[],
  logits: readonly number[],
  { suspicion: share, suspicionScale }: StepNumbers,
): readonly number[] {
  const suspicion = logits.map((logit) => Math.exp(clamp(-logit / suspicionScale, -20, 20)));
  let suspected = 0;
  let total = 0;
  weights.forEach((weight, i) => {
    suspected += weight * (suspicion[i] as number);
    total += weight;
  });
  return weights.map((weight, i) => weight * (1 - share + (share * (suspicion[i] as number) * total) / suspected));
}
