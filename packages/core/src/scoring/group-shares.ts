import { spread } from "./spread.js";

/** Sharpness of the shares: similarities name the group of a request less surely than they order its candidates. Range 0.5..1.5. */
const SHARPNESS = 0.8;

/**
 * For each candidate, the probability that the request is about its group: a soft-max over the best similarity of each group, in units
 * of the request's own spread σ.
 *
 *     share_g ∝ exp(0.8 max_{m in g} s_m / σ),  Σ_g share_g = 1          equal shares where nothing spreads
 *
 * Invariant to a·s + b with a > 0.
 *
 * @param groups number of each candidate's group, parallel to the similarities
 */
export function groupShares(similarities: Float64Array, groups: Int32Array): Float64Array {
  const rate = SHARPNESS / (spread(similarities) || 1);
  const top = Math.max(...similarities);
  const odds = new Map<number, number>();
  groups.forEach((group, i) => {
    const own = Math.exp(rate * ((similarities[i] as number) - top));
    odds.set(group, Math.max(odds.get(group) ?? 0, own));
  });
  let all = 0;
  for (const own of odds.values()) all += own;
  return Float64Array.from(groups, (group) => (odds.get(group) as number) / all);
}
