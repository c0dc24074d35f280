/** Probability that a standard normal value lies below x, off by less than 10⁻⁷ (Abramowitz and Stegun 26.2.17). */
export function normalBelow(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    Math.exp((-x * x) / 2) *
    t *
    (0.127414796 + t * (-0.142248368 + t * (0.7107068705 + t * (-0.7265760135 + t * 0.5307027145))));
  return x > 0 ? 1 - tail : tail;
}
