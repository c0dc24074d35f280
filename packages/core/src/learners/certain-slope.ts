/**
 * The slope of surprises on predictions that may be counted on: so many standard errors below the one that was seen.
 *
 *     num / den − errors · √(variance / den)
 *
 * @param numerator sum of surprise times prediction
 * @param denominator sum of squared predictions, > 0
 * @param variance of a run's surprise
 */
export function certainSlope(numerator: number, denominator: number, errors: number, variance: number): number {
  return numerator / denominator - errors * Math.sqrt(variance / denominator);
}
