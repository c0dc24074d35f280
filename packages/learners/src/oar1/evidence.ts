import { OAR1 } from "./parameters.js";
import type { Oar1Shared } from "./state.js";

/**
 * A regression of surprises on predictions. It forgets by new evidence and not by time: while nothing can be predicted, nothing is
 * forgotten.
 */
export type Regression = "gate" | "scalar";

/** Fields of a collection's state that hold a regression's sums. */
const FIELDS = {
  gate: { numerator: "gateNumerator", denominator: "gateDenominator", seen: "gateSeen" },
  scalar: { numerator: "scalarNumerator", denominator: "scalarDenominator", seen: "scalarSeen" },
} as const;

/** A run's part of a regression's sums: surprise times prediction, and prediction squared. */
export type Sums = readonly [numerator: number, denominator: number];

export const NO_SUMS: Sums = [0, 0];

/** The sums of a run, for a prediction `to` against the earlier expectation `from`. */
export function sumsOf(weight: number, reward: number, from: number, to: number): Sums {
  return [weight * (reward - from) * (to - from), weight * (to - from) ** 2];
}

/** Adds a run to a regression: `sum = e^(−x / 15) sum + …`, x the squared prediction. */
export function addSums(shared: Oar1Shared, of: Regression, [numerator, denominator]: Sums): void {
  const fields = FIELDS[of];
  const left = remembered(denominator);
  shared[fields.numerator] = left * shared[fields.numerator] + numerator;
  shared[fields.denominator] = left * shared[fields.denominator] + denominator;
  shared[fields.seen] += denominator;
}

/**
 * Takes a run back: the remainder of its sums, and the forgetting that it caused.
 *
 * @param seen total evidence of the regression right after the run
 */
export function takeSums(shared: Oar1Shared, of: Regression, [numerator, denominator]: Sums, seen: number): void {
  const fields = FIELDS[of];
  const left = remembered(shared[fields.seen] - seen);
  const own = remembered(denominator);
  shared[fields.numerator] = (shared[fields.numerator] - left * numerator) / own;
  shared[fields.denominator] = Math.max(0, (shared[fields.denominator] - left * denominator) / own);
  shared[fields.seen] = Math.max(0, shared[fields.seen] - denominator);
}

/** Share of a regression's sums that is left after more evidence, in squared predictions. */
function remembered(added: number): number {
  return Math.exp(-added / OAR1.evidenceWindow);
}
