import { OAR } from "./parameters.js";
import type { OarShared } from "./state.js";

/**
 * A regression of surprises on predictions that forgets by what it hears, not by time: while nothing can be predicted, nothing is
 * forgotten.
 */
export type Regression = "gate" | "scalar";

/** Where a regression's sums stand in a collection's state. */
const FIELDS = {
  gate: { numerator: "gateNumerator", denominator: "gateDenominator", seen: "gateSeen" },
  scalar: { numerator: "scalarNumerator", denominator: "scalarDenominator", seen: "scalarSeen" },
} as const;

/** What a run adds to the sums of a regression: surprise times prediction, and prediction squared. */
export type Sums = readonly [numerator: number, denominator: number];

export const NO_SUMS: Sums = [0, 0];

/** The sums of a run in which a prediction `to` stood against what was expected before, `from`. */
export function sumsOf(weight: number, reward: number, from: number, to: number): Sums {
  return [weight * (reward - from) * (to - from), weight * (to - from) ** 2];
}

/** Adds a run to a regression: `sum = e^(−x / 15) sum + …`, x the squared prediction. */
export function addSums(shared: OarShared, of: Regression, [numerator, denominator]: Sums): void {
  const fields = FIELDS[of];
  const left = remembered(denominator);
  shared[fields.numerator] = left * shared[fields.numerator] + numerator;
  shared[fields.denominator] = left * shared[fields.denominator] + denominator;
  shared[fields.seen] += denominator;
}

/**
 * Takes a run back: what is left of its sums, and the forgetting that it caused.
 *
 * @param seen what the regression had heard right after the run
 */
export function takeSums(shared: OarShared, of: Regression, [numerator, denominator]: Sums, seen: number): void {
  const fields = FIELDS[of];
  const left = remembered(shared[fields.seen] - seen);
  const own = remembered(denominator);
  shared[fields.numerator] = (shared[fields.numerator] - left * numerator) / own;
  shared[fields.denominator] = Math.max(0, (shared[fields.denominator] - left * denominator) / own);
  shared[fields.seen] = Math.max(0, shared[fields.seen] - denominator);
}

/** What is left of a regression's sums after so much more was heard. */
function remembered(heard: number): number {
  return Math.exp(-heard / OAR.evidenceWindow);
}
