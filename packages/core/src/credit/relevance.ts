import { clamp } from "../scoring/bounds.js";

/** How sharply credit falls with relevance. Range 0 (all alike) to 3. Chosen on the tuning sets, as is the floor. */
export const RELEVANCE_POWER = 0.7;
/** No memory that was shown is without credit: one that learning lifted over its similarity must not escape the blame. Range 0..0.5. */
export const RELEVANCE_FLOOR = 0.2;

/**
 * Relevance weights of the memories shown: those that fill the bottom of a list neither earn nor pay much.
 *
 *     w_m = clamp((s_m − level) / (top − level), 0.2, 1) ^ 0.7
 *
 * The top runs over the memories shown, the level is the mean of those that were found and not shown: what an irrelevant memory
 * looks like to this store. The weights stay the same when a store shifts or stretches its similarities (a distance d read as
 * 1 − d included). All are 1 when everything found was shown, or nothing shown stands above the level.
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
