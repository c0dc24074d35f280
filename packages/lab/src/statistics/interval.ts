/** A mean with its 95 % interval: `mean ± margin`. */
export interface Interval {
  readonly mean: number;
  /** Half the interval's width; 0 for a single value. */
  readonly margin: number;
  /** How many values it rests on. */
  readonly n: number;
}

/** @param values at least one */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param values at least one; the middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** mean ± t₀.₉₇₅(n − 1) · s / √n, with the sample deviation s. Assumes independent, roughly normal values: one per seed. */
export function interval(values: readonly number[]): Interval {
  const n = values.length;
  const average = mean(values);
  if (n < 2) return { mean: average, margin: 0, n };
  const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (n - 1);
  return { mean: average, margin: studentQuantile(n - 1) * Math.sqrt(variance / n), n };
}

/** The interval of the differences `treated − control`, paired by place (the seed): luck that both share cancels. */
export function pairedInterval(treated: readonly number[], control: readonly number[]): Interval {
  return interval(treated.map((value, place) => value - (control[place] as number)));
}

/** Student's 0.975 quantiles for 1 … 10 degrees of freedom (any table of the distribution). */
const SMALL_QUANTILES = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281] as const;
/** The normal distribution's 0.975 quantile. */
const NORMAL_QUANTILE = 1.959964;

/**
 * Student's 0.975 quantile. Past ten degrees of freedom by the Cornish–Fisher expansion (Abramowitz & Stegun 26.7.5), within 0.0005:
 * z + (z³ + z)/4f + (5z⁵ + 16z³ + 3z)/96f² + (3z⁷ + 19z⁵ + 17z³ − 15z)/384f³.
 *
 * @param freedom degrees of freedom f, a whole number ≥ 1
 */
export function studentQuantile(freedom: number): number {
  const z = NORMAL_QUANTILE;
  return (
    SMALL_QUANTILES[freedom - 1] ??
    z +
      (z ** 3 + z) / (4 * freedom) +
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}
