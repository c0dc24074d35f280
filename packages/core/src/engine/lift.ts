import { type ArmCounts, type HoldoutCounts, REWARD_UNITS } from "../ledger/holdout-counts.js";
import { type SampleSums, welchInterval } from "../scoring/welch.js";
import type { LiftReport } from "./reports.js";

/** Episodes with a reward that each arm needs before a difference is named. */
const LIFT_MINIMUM = 30;
/** Episodes with a reward that each arm of one share needs to be part of it. */
const STRATUM_MINIMUM = 2;

/**
 * The worth of learning, or of memory: success of the episodes that were served minus that of the episodes that were drawn. Episodes are compared
 * with those that were drawn at the same share, since times with another share may have been better or worse for reasons of their own.
 */
export function liftOf<Arm extends string, Drawn extends string>(
  counts: readonly HoldoutCounts[] | undefined,
  served: Arm,
  drawn: Drawn,
): LiftReport<Arm | Drawn> | undefined {
  if (!counts || counts.length === 0) return undefined;
  const strata = counts
    .map(({ learned, held }) => ({ a: sumsOf(learned), b: sumsOf(held) }))
    .filter(({ a, b }) => a.n >= STRATUM_MINIMUM && b.n >= STRATUM_MINIMUM);
  const enough = [strata.map(({ a }) => a), strata.map(({ b }) => b)].every(
    (samples) => samples.reduce((sum, { n }) => sum + n, 0) >= LIFT_MINIMUM,
  );
  const arms = <Value>(a: Value, b: Value) => ({ [served]: a, [drawn]: b }) as Record<Arm | Drawn, Value>;
  const episodes = { ...arms(total(counts, "learned"), total(counts, "held")), needed: LIFT_MINIMUM };
  if (!enough) return { episodes, lift: "not enough" };
  const { a, b, ...lift } = welchInterval(strata);
  return { episodes, success: arms(a, b), lift };
}

function sumsOf({ episodes, sum, squares }: ArmCounts): SampleSums {
  return { n: episodes, sum: sum / REWARD_UNITS, squares: squares / REWARD_UNITS ** 2 };
}

function total(counts: readonly HoldoutCounts[], arm: "learned" | "held"): number {
  return counts.reduce((sum, stratum) => sum + stratum[arm].episodes, 0);
}
