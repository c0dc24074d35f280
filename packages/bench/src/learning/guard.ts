import { signed } from "@qavr/lab";
import type { Comparisons } from "./comparison.js";
import { STRESS_SET } from "./plan.js";
import { DEFAULT_ROW, REFERENCE_ROW } from "./rows.js";

/** Demands on the quick plan, with room for other luck: a change of arithmetic draws other outcomes. */
export const GUARDS = {
  /** Gain in success of the default learner; it measured +0.18. */
  success: 0.12,
  /** Gain in nDCG@5; it measured +0.09. */
  ndcg: 0.04,
  /** Gain in success as a multiple of the published formula's; it measured 5. */
  times: 3,
  /** Least gain in success at any checkpoint when outcomes are coin tosses; it measured −0.003. */
  harm: -0.04,
} as const;

/** One thing that the guard looked at. */
export interface GuardResult {
  readonly line: string;
  readonly good: boolean;
}

/** Holds the quick plan's results to {@link GUARDS}. */
export function guard(comparisons: Comparisons): readonly GuardResult[] {
  const own = comparisons.find(DEFAULT_ROW, STRESS_SET, "main");
  const success = own?.gain("success")?.mean ?? Number.NaN;
  const published = comparisons.find(REFERENCE_ROW, STRESS_SET, "main")?.gain("success")?.mean ?? Number.NaN;
  const ndcg = own?.gain("ndcg")?.mean ?? Number.NaN;
  const harm = comparisons.find(DEFAULT_ROW, STRESS_SET, "coin-toss")?.worst().gain ?? Number.NaN;
  const at = `${DEFAULT_ROW} on ${STRESS_SET}`;
  return [
    check(`${at}: gain in success`, success, GUARDS.success),
    check(`${at}: gain in nDCG@5`, ndcg, GUARDS.ndcg),
    check(`${at}: gain beyond ${GUARDS.times} times that of ${REFERENCE_ROW}`, success - GUARDS.times * published, 0),
    check(`${at}: worst checkpoint when outcomes are coin tosses`, harm, GUARDS.harm),
  ];
}

/** NaN is never good. */
function check(what: string, value: number, least: number): GuardResult {
  const good = value >= least;
  return { line: `${good ? "ok  " : "FAIL"}  ${what}: ${signed(value)}, at least ${signed(least)}`, good };
}
