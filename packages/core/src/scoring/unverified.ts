import { spread } from "./spread.js";

/** How far rewards may lift an unverified memory, in standard deviations of the request's similarities. Range 0..1. */
export const UNVERIFIED_LIFT = 0.25;
/** Verified successes after which a memory that was written unverified ranks like any other. Range 1..255. */
export const CONFIRMATIONS = 3;

/**
 * Bounds the gain of unverified memories, in place. Such a memory keeps its similarity and may lose without limit. It gains at
 * most a quarter of a standard deviation, and never passes a verified memory of higher similarity:
 *
 *     score_u ← min(score_u, s_u + 0.25 σ, score_v)   for every verified v with s_v ≥ s_u and score_v ≥ s_u
 *
 * A verified memory whose score fell below the unverified one's similarity does not bound it.
 *
 * @param scores similarity plus what was learned; ties keep the host's order
 * @param unverified 1 for unverified memories
 */
export function boundUnverified(scores: Float64Array, similarities: Float64Array, unverified: Uint8Array): void {
  const lift = UNVERIFIED_LIFT * spread(similarities);
  // Most similar first, verified before unverified: all verified memories that bound an unverified one come before it.
  const order = Array.from(scores.keys()).sort(
    (a, b) =>
      (similarities[b] as number) - (similarities[a] as number) ||
      (unverified[a] as number) - (unverified[b] as number),
  );
  /** Scores of verified memories seen so far, rising. */
  const bounds: number[] = [];
  for (const place of order) {
    const score = scores[place] as number;
    if (unverified[place] !== 1) {
      bounds.splice(firstFrom(bounds, score), 0, score);
      continue;
    }
    const own = similarities[place] as number;
    const most = Math.min(own + lift, bounds[firstFrom(bounds, own)] ?? Number.POSITIVE_INFINITY);
    if (score > most) scores[place] = most;
  }
}

/** Place of the first value that is at least `least` in a rising list. */
function firstFrom(rising: readonly number[], least: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rising[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
