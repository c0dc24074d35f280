/** Two independent samples in one stratum, as sums over values in [0, 1]. */
export interface SampleSums {
  readonly n: number;
  readonly sum: number;
  readonly squares: number;
}

/** Two means, their difference and the ends of its 95 % interval. */
export interface DifferenceOfMeans {
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

/** 97.5 % quantile of the standard normal distribution. */
const NORMAL_QUANTILE = 1.959963984540054;

/**
 * 97.5 % quantile of Student's t with `freedom` degrees of freedom (≥ 3), by the expansion around the normal quantile
 * (Abramowitz and Stegun 26.7.5). Off by less than 0.03 at 3 and by less than 10⁻⁵ above 20.
 */
export function studentQuantile(freedom: number): number {
  const z = NORMAL_QUANTILE;
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}

/**
 * Mean of `a` minus mean of `b` over strata (the means returned are Σ_k (n_k / N) of each), with Welch's interval for unequal variances.
 *
 *     d = Σ_k (n_k / N) (ā_k − b̄_k)        se² = Σ c,  c = (n_k / N)² s² / n  per sample
 *     ν = (Σ c)² / Σ c²/(n − 1)            interval = d ± t(ν) · se
 *
 * n_k counts both samples of stratum k. The variance s² of a sample is taken with one more 0 and one more 1 in it (as Agresti and
 * Caffo do for proportions), so that thirty equal rewards do not give an interval of length 0.
 *
 * @param strata each with at least 2 values in both samples; not empty
 */
export function welchInterval(
  strata: readonly { readonly a: SampleSums; readonly b: SampleSums }[],
): DifferenceOfMeans {
  const total = strata.reduce((sum, { a, b }) => sum + a.n + b.n, 0);
  const means = { a: 0, b: 0 };
  let variance = 0;
  let squares = 0;
  for (const { a, b } of strata) {
    const weight = (a.n + b.n) / total;
    means.a += (weight * a.sum) / a.n;
    means.b += (weight * b.sum) / b.n;
    for (const sample of [a, b]) {
      const part = (weight ** 2 * sampleVariance(sample)) / sample.n;
      variance += part;
      squares += part ** 2 / (sample.n - 1);
    }
  }
  const half = studentQuantile(variance ** 2 / squares) * Math.sqrt(variance);
  const difference = means.a - means.b;
  return { ...means, difference, low: difference - half, high: difference + half };
}

function sampleVariance({ n, sum, squares }: SampleSums): number {
  const mean = (sum + 1) / (n + 2);
  return (squares + 1 - (n + 2) * mean ** 2) / (n + 1);
}
