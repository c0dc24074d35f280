import { clamp } from "../../scoring/bounds.js";
import * as OAR from "./parameters.js";
import { slopesOf } from "./regression.js";
import type { OarShared } from "./state.js";
import type { WorthSums } from "./worth.js";

/** Influence of reputations and of contexts on the order, each in [0, 1]. */
export interface Gates {
  readonly reputation: number;
  readonly context: number;
}

/**
 * A run's part of two regressions: of surprises on the predictions of reputations (1) and contexts (2) for the run, and of what learning
 * is worth. Between them its part of the sums of rewards.
 */
export type Sums = readonly [
  seen: number,
  a11: number,
  a12: number,
  a22: number,
  h1: number,
  h2: number,
  outcomes: number,
  rewards: number,
  between: number,
  ...worth: WorthSums | [],
];

const OUTCOME_FIELDS = [
  "reputations",
  "both",
  "gateDenominator",
  "reputationSurprise",
  "gateNumerator",
  "outcomes",
  "rewards",
  "between",
] as const;
const WORTH_FIELDS = ["heldSquares", "heldProducts", "squares", "products"] as const;

/** Each sum with the window in which it forgets. */
const FIELDS = [
  ...OUTCOME_FIELDS.map((field) => [field, OAR.evidenceWindow] as const),
  ...WORTH_FIELDS.map((field) => [field, OAR.worthWindow] as const),
];

export const NO_SUMS: Sums = [0, 0, 0, 0, 0, 0, 0, 0, 0];

/** Sums that may be negative. */
const PRODUCTS: readonly string[] = ["both", "reputationSurprise", "gateNumerator", "heldProducts", "products"];

/**
 * The sums of a run for the gates and of its reward, rounded to float32.
 *
 *     d₁ = P₁ − P₀,  d₂ = P₂ − P₀,  e = r − P₀          A += τ d dᵀ,  h += τ d e,  seen += τ (P − P₀)²
 *     outcomes += τ,  rewards += τ r,  between += τ r (1 − r)
 *
 * @param weight τ of the outcome
 * @param surprise e
 * @param byReputations d₁
 * @param byContexts d₂
 * @param together P − P₀
 * @param reward r as it was reported
 */
export function sumsOf(
  weight: number,
  surprise: number,
  byReputations: number,
  byContexts: number,
  together: number,
  reward: number,
): Sums {
  const pairs = [
    [together, together],
    [byReputations, byReputations],
    [byReputations, byContexts],
    [byContexts, byContexts],
    [byReputations, surprise],
    [byContexts, surprise],
    [1, 1],
    [reward, 1],
    [reward, 1 - reward],
  ] as const;
  return pairs.map(([a, b]) => Math.fround(weight * a * b)) as unknown as Sums;
}

/**
 * Adds a run: `sum = e^(−seen / 15) sum + …`, for the worth of learning `e^(−seen / 60)`. The sums forget by new evidence and not by
 * time.
 */
export function addSums(shared: OarShared, sums: Sums): void {
  const [seen] = sums;
  FIELDS.forEach(([field, window], i) => {
    shared[field] = Math.exp(-seen / window) * shared[field] + (sums[i + 1] ?? 0);
  });
  shared.predicted += seen;
}

/**
 * Takes a run back: the remainder of its sums, and the forgetting that it caused.
 *
 * @param predicted the collection's `predicted` right after the run
 */
export function takeSums(shared: OarShared, [seen, ...sums]: Sums, predicted: number): void {
  const later = shared.predicted - predicted;
  FIELDS.forEach(([field, window], i) => {
    const left = (shared[field] - Math.exp(-later / window) * (sums[i] ?? 0)) / Math.exp(-seen / window);
    shared[field] = PRODUCTS.includes(field) ? left : Math.max(0, left);
  });
  shared.predicted = Math.max(0, shared.predicted - seen);
}

/**
 * The gates: two slopes by least squares. A slope of 1 means that the predictions of this part came true; far below 1, it only repeats
 * the past.
 *
 *     A = Σ τ d dᵀ + diag(0.2, 1.5),  h = Σ τ d e + (0.1, 1.5)          s = A⁻¹ h,  err₁ = √(0.2 (A⁻¹)₁₁)
 *     reputation = clamp((s₁ − 0.3 err₁ − 0.3) / 0.4, 0, 1)           context = clamp((s₂ − 0.2) / 0.2, 0, 1)
 *
 * A host whose similarities never differed gives no order that could be better: no error is subtracted, and context = 1.
 */
export function gatesOf(shared: OarShared, isRanked: boolean): Gates {
  const a11 = shared.reputations + OAR.reputationPrior;
  const a22 = shared.gateDenominator + OAR.contextPrior;
  // Sums that were taken back may be off by a rounding error; A stays positive definite.
  const most = MOST * Math.sqrt(a11 * a22);
  const a12 = clamp(shared.both, -most, most);
  const h1 = shared.reputationSurprise + OAR.reputationPrior * OAR.reputationSlope;
  const h2 = shared.gateNumerator + OAR.contextPrior * OAR.contextSlope;
  const [reputation, context] = slopesOf(a11, a12, a22, h1, h2);
  const safe = isRanked ? reputation.value - OAR.reputationErrors * reputation.error : reputation.value;
  return {
    reputation: clamp((safe - OAR.reputationFrom) / OAR.reputationFull, 0, 1),
    context: clamp((context.value - OAR.contextFrom) / OAR.contextFull, isRanked ? 0 : 1, 1),
  };
}

/** Largest correlation of the two predictions. */
const MOST = 0.999;
