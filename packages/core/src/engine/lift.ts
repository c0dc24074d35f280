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
  const all = counts.map(({ learned, held }) => ({ a: sumsOf(learned), b: sumsOf(held) }));
  const compared = all.filter(({ a, b }) => a.n >= STRATUM_MINIMUM && b.n >= STRATUM_MINIMUM);
  // Other shares count for nothing. Before any share can be compared, the latest one is reported.
  const strata = compared.length > 0 ? compared : all.slice(-1);
  const total = (arm: "a" | "b"): number => strata.reduce((sum, stratum) => sum + stratum[arm].n, 0);
  const arms = <Value>(a: Value, b: Value) => ({ [served]: a, [drawn]: b }) as Record<Arm | Drawn, Value>;
  const episodes = { ...arms(total("a"), total("b")), needed: LIFT_MINIMUM };
  if (Math.min(total("a"), total("b")) < LIFT_MINIMUM) return { episodes, lift: "not enough" };
  const { a, b, ...lift } = welchInterval(strata);
  return { episodes, success: arms(a, b), lift };
}

function sumsOf({ episodes, sum, squares }: ArmCounts): SampleSums {
  return { n: episodes, sum: sum / REWARD_UNITS, squares: squares / REWARD_UNITS ** 2 };
}
