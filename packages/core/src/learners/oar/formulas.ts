import { clamp, sigmoid } from "../../scoring/bounds.js";
import type { OarNumbers } from "./parameters.js";
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
export function dualNumber(logit: number, reward: number, variance: number, weight: number, n: OarNumbers): number {
  let dual = 0;
  for (let step = 0; step < n.newtonSteps; step++) {
    const probability = sigmoid(logit + variance * dual);
    dual += (weight * (reward - probability) - dual) / (1 + variance * weight * curvature(probability, n));
  }
  return dual;
}

/** Curvature of the logistic likelihood, not too flat for a step: `max(0.05, P (1 − P))`. */
export function curvature(probability: number, { leastCurvature }: OarNumbers): number {
  return Math.max(leastCurvature, probability * (1 - probability));
}

/**
 * How far learning may move the order, in [0, 1]: closed unless the slope of runs' surprises on what was predicted for them
 * stands above 0 by 0.8 standard errors.
 *
 *     n = den + 0.5        gate = clamp((num / n − 0.8 √(0.2 / n)) / 0.12, 0, 1)
 */
export function gate({ gateNumerator, gateDenominator }: OarShared, n: OarNumbers): number {
  const seen = gateDenominator + n.gatePrior;
  const certain = gateNumerator / seen - n.gateErrors * Math.sqrt(n.gateVariance / seen);
  return clamp(certain / n.gateFull, 0, 1);
}

/**
 * Whether what was learned tells the memories of a list apart, or only that some requests are harder than others, in [0, 1]:
 * the slope on what a memory adds beyond the list's own level, as a share of the slope on everything.
 */
export function contrast(shared: OarShared, n: OarNumbers): number {
  const whole = Math.max(0.1, shared.gateNumerator / (shared.gateDenominator + n.gatePrior));
  const seen = shared.contrastDenominator + n.gatePrior;
  const part = shared.contrastNumerator / seen + n.contrastErrors * Math.sqrt(n.gateVariance / seen);
  return clamp((part / whole - n.contrastFrom) / n.contrastWidth, 0, 1);
}

/** Evidence near a request: `e · cos³` of a footprint and the folded request, 0 where they point apart. */
export function localEvidence(product: number, norm: number, { localPower }: OarNumbers): number {
  return product > 0 && norm > 0 ? product * (product / norm) ** localPower : 0;
}
