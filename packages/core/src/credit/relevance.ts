import { clamp } from "../scoring/bounds.js";
import { mean } from "../scoring/spread.js";

/** How sharply credit falls with relevance. Range 0 (all alike) to 3; 1.5 gave the largest gain in nDCG. */
export const RELEVANCE_POWER = 1.5;
/** No memory that was shown is entirely without credit. */
export const RELEVANCE_FLOOR = 0.02;

/**
 * Relevance weights of the memories shown: those that fill the bottom of a list neither earn nor pay much.
 *
 *     w_m = clamp((s_m − mean) / (top − mean), 0.02, 1) ^ 1.5
 *
 * The mean runs over all candidates, the top over those shown, so the weights stay the same when a store shifts or stretches
 * its similarities (a distance d read as 1 − d included). All weights are 1 when nothing shown stands above the mean.
 */
export function relevanceWeights(shown: readonly number[], candidates: Float64Array): number[] {
  const top = Math.max(...shown);
  const middle = candidates.length === 0 ? top : mean(candidates);
  const range = top - middle;
  if (!(range > 0)) return shown.map(() => 1);
  return shown.map((similarity) => clamp((similarity - middle) / range, RELEVANCE_FLOOR, 1) ** RELEVANCE_POWER);
}
