import { clamp, sigmoid } from "../../scoring/bounds.js";
import { certainSlope } from "../certain-slope.js";
import type { RequestModel } from "../request-model.js";
import { JAR, type JarSettingNumbers } from "./parameters.js";

/**
 * One damped Newton step of a run's dual number towards its residual.
 *
 *     P = sigmoid(l)        d = (τ (r − P) − a) / (1 + K τ max(0.05, P (1 − P)))
 *
 * @param logit l, what the model says of the run now
 * @param variance K, how far the logit moves when the dual number moves by 1
 * @param weight τ, how far the outcome is believed, (0, 1]
 */
export function dualStep(logit: number, reward: number, dual: number, variance: number, weight: number): number {
  const probability = sigmoid(logit);
  const curvature = Math.max(JAR.leastCurvature, probability * (1 - probability));
  return (weight * (reward - probability) - dual) / (1 + variance * weight * curvature);
}

/**
 * How far learning may move the order, in [0, 1]: closed unless the slope of runs' surprises on what was predicted for them
 * stands above 0 by 0.8 standard errors.
 *
 *     n = den + 0.5        gate = clamp((num / n − 0.8 √(0.2 / n)) / 0.12, 0, 1)
 */
export function gate({ gateNumerator, gateDenominator }: RequestModel): number {
  const seen = gateDenominator + JAR.gatePrior;
  return clamp(certainSlope(gateNumerator, seen, JAR.gateErrors, JAR.gateVariance) / JAR.gateFull, 0, 1);
}

/**
 * What a logit is worth before gate and bounds: a boost counts by how much the request is like those it was earned by, a
 * penalty in full.
 *
 *     y > 0:  y · cos(v, z) / 0.4        y ≤ 0:  y
 *
 * @param logit y = v · z
 * @param norm |v| > 0
 */
export function shaped(logit: number, norm: number): number {
  return logit > 0 ? (logit * logit) / norm / JAR.boostCosine : logit;
}

/** Bonus of a memory that was tried little, for the top of the list: `bonus · relevance⁴ / (1 + n / n₀)`. */
export function freshness(
  relevance: number,
  evidence: number,
  { freshBonus, freshEvidence }: JarSettingNumbers,
): number {
  return (freshBonus * relevance ** JAR.freshPower) / (1 + evidence / freshEvidence);
}

/** The expected advantage whatever the request: `a / (n + 5)`. */
export function scalarUtility(advantage: number, evidence: number): number {
  return advantage / (evidence + JAR.scalarShrinkage);
}
