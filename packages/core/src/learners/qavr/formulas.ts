import { clamp } from "../../scoring/bounds.js";

const MS_PER_DAY = 86_400_000;

/** `q ← q + rate · (r − q)`, kept in [0, 1]. */
export function updatedQ(q: number, reward: number, rate: number): number {
  return clamp(q + rate * (reward - q), 0, 1);
}

/**
 * `q · factor^days` since the memory was last retrieved. Computed when read, from the raw value and its time, so reading at
 * any cadence gives the same. A clock that ran backwards decays nothing.
 *
 * @param lastAccessed Unix ms, NaN for never (no decay)
 */
export function decayedQ(q: number, lastAccessed: number, now: number, factor: number): number {
  const days = (now - lastAccessed) / MS_PER_DAY;
  return days > 0 ? q * factor ** days : q;
}

/** `(1 − α) · similarity + α · q`. */
export function blend(similarity: number, q: number, alpha: number): number {
  return (1 - alpha) * similarity + alpha * q;
}

/** Similarities as this formula needs them, in [0, 1]: unchanged if they are there already, else min–max over the candidates. */
export function unitSimilarities(similarities: Float64Array): {
  readonly values: Float64Array;
  readonly rescaled: boolean;
} {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of similarities) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low >= 0 && high <= 1) return { values: similarities, rescaled: false };
  const range = high - low;
  return { values: similarities.map((value) => (range > 0 ? (value - low) / range : 1)), rescaled: true };
}
