import { spread } from "./spread.js";

/** How far rewards may lift an unverified memory, in standard deviations of the request's similarities. Range 0..1. */
export const UNVERIFIED_LIFT = 0.25;
/** Verified successes from which on a memory that was written unverified ranks like any other. Range 1..255. */
export const CONFIRMATIONS = 3;

/**
 * Bounds what rewards do for memories that nobody has verified, in place. Such a memory keeps what similarity gives it, and may lose
 * without limit; it gains at most a quarter of a standard deviation, and never passes a verified memory that stood before it:
 *
 *     score_u ← min(score_u, s_u + 0.25 σ, score_v)   for every verified v with s_v ≥ s_u and score_v ≥ s_u
 *
 * A verified memory that outcomes have brought below the unverified one's similarity has lost its place itself.
 *
 * @param scores similarity plus what was learned; ties keep the host's order
 * @param unverified 1 for memories that nobody has verified
 */
export function boundUnverified(scores: Float64Array, similarities: Float64Array, unverified: Uint8Array): void {
  const lift = UNVERIFIED_LIFT * spread(similarities);
  // Most similar first, verified before unverified: when an unverified one comes, all verified ones that bound it have been seen.
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
