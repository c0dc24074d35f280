import { spread } from "./spread.js";

/** Sharpness of the shares: similarities name the group of a request less surely than they order its candidates. Range 0.4..1. */
const SHARPNESS = 0.6;

/**
 * For each candidate, the probability that the request is about its group: each candidate is a vote for its group, weighted by its
 * similarity in units of the request's own spread σ.
 *
 *     share_g ∝ Σ_{m in g} exp(0.6 s_m / σ),  Σ_g share_g = 1          shares by the number of candidates where nothing spreads
 *
 * Invariant to a·s + b with a > 0.
 *
 * @param groups number of each candidate's group, parallel to the similarities
 */
export function groupShares(similarities: Float64Array, groups: Int32Array): Float64Array {
  const rate = SHARPNESS / (spread(similarities) || 1);
  const top = Math.max(...similarities);
  const votes = new Map<number, number>();
  let all = 0;
  groups.forEach((group, i) => {
    const vote = Math.exp(rate * ((similarities[i] as number) - top));
    votes.set(group, (votes.get(group) ?? 0) + vote);
    all += vote;
  });
  return Float64Array.from(groups, (group) => (votes.get(group) as number) / all);
}
