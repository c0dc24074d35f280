/** `(1 − α) · similarity + α · other`. */
export function blend(similarity: number, other: number, alpha: number): number {
  return (1 - alpha) * similarity + alpha * other;
}

/** Similarities for a formula with fixed weights, and whether they were rescaled for it. */
export interface UnitSimilarities {
  readonly values: Float64Array;
  readonly rescaled: boolean;
}

/** Note of an explanation about rescaled similarities. */
export function rescaledNote(lowest: 0 | -1): string {
  return `similarities lie outside [${lowest === 0 ? "0" : "−1"}, 1] and were rescaled by min-max`;
}

/** Similarities in [`lowest`, 1]: unchanged if they lie there already, else rescaled by min–max over the candidates into [0, 1]. */
export function unitSimilarities(similarities: Float64Array, lowest: 0 | -1 = 0): UnitSimilarities {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of similarities) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low >= lowest && high <= 1) return { values: similarities, rescaled: false };
  const range = high - low;
  return { values: similarities.map((value) => (range > 0 ? (value - low) / range : 1)), rescaled: true };
}
