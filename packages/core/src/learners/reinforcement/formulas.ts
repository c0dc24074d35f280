import { unitSimilarities } from "../../scoring/blend.js";

/** `1 − (1 − c₀) · (1 − growth)^reads`: the closed form of `c ← c + growth · (1 − c)`. Never above 1. */
export function confidence(initial: number, growth: number, reads: number): number {
  return 1 - (1 - initial) * (1 - growth) ** reads;
}

/** Each similarity as a share of the request's greatest; all 0 when that is 0, min–max where some are negative. */
export function shareOfBest(similarities: Float64Array): Float64Array {
  let best = 0;
  let negative = false;
  for (const value of similarities) {
    if (value > best) best = value;
    if (value < 0) negative = true;
  }
  if (negative) return unitSimilarities(similarities).values;
  return best === 0 ? similarities : similarities.map((value) => value / best);
}
