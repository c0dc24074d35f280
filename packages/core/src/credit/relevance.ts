import { clamp } from "../scoring/bounds.js";

/** How sharply credit falls with relevance. Range 0 (all alike) to 3. Chosen on the tuning sets, as is the floor. */
export const RELEVANCE_POWER = 0.7;
/** Least weight of a memory shown, so that one lifted by learning still takes its part of the blame. Range 0..0.5. */
export const RELEVANCE_FLOOR = 0.2;

/**
 * Relevance weights of the memories shown: those at the bottom of a list take little credit and little blame.
 *
 *     w_m = clamp((s_m − level) / (top − level), 0.2, 1) ^ 0.7
 *
 * The top is the greatest similarity shown. The level is the mean of those found and not shown: the similarity of an irrelevant
 * memory in this store. The weights are invariant to shifts and stretches of similarities (a distance d read as 1 − d included).
 * All are 1 when everything found was shown, or nothing shown lies above the level.
 *
 * @param shown similarities of the memories shown, each once
 * @param others similarities of the candidates that were not shown
 */
export function relevanceWeights(shown: readonly number[], others: readonly number[]): number[] {
  const top = shown.reduce((best, similarity) => Math.max(best, similarity), Number.NEGATIVE_INFINITY);
  const level = others.reduce((sum, similarity) => sum + similarity, 0) / others.length;
  const range = top - level;
  if (!(range > 0)) return shown.map(() => 1);
  return shown.map((similarity) => clamp((similarity - level) / range, RELEVANCE_FLOOR, 1) ** RELEVANCE_POWER);
}
