/** One observation: its reward, and 1 / (chance of the choice made) if a policy would have made the same choice, else 0. */
export interface WeighedReward {
  readonly reward: number;
  readonly weight: number;
}

/** Size of an equally weighted sample of the same precision (Kish): (Σ w)² / Σ w². 0 without weight. */
export function effectiveSampleSize(weights: readonly number[]): number {
  let sum = 0;
  let squares = 0;
  for (const weight of weights) {
    sum += weight;
    squares += weight ** 2;
  }
  return squares === 0 ? 0 : sum ** 2 / squares;
}

/** Mean reward of a policy from rewards of another (self-normalised inverse propensity, Hájek): Σ w r / Σ w. */
export function weighedMean(observations: readonly WeighedReward[]): number {
  let sum = 0;
  let total = 0;
  for (const { reward, weight } of observations) {
    sum += weight * reward;
    total += weight;
  }
  return sum / total;
}

/** 97.5 % quantile of the standard normal distribution. */
const NORMAL_QUANTILE = 1.959963984540054;

/**
 * Difference of two policies' mean rewards over the same observations, with the ends of its 95 % interval.
 *
 *     d = V_a − V_b        se² = Σ_i ( a_i (r_i − V_a) / Σ a  −  b_i (r_i − V_b) / Σ b )²        d ± 1.96 se
 *
 * Observations on which both policies agree cancel out: only those on which they differ add to the error.
 *
 * @param observations with the weight under either policy; Σ a and Σ b above 0
 */
export function weighedDifference(
  observations: readonly { readonly reward: number; readonly a: number; readonly b: number }[],
): { readonly difference: number; readonly low: number; readonly high: number } {
  const meanA = weighedMean(observations.map(({ reward, a }) => ({ reward, weight: a })));
  const meanB = weighedMean(observations.map(({ reward, b }) => ({ reward, weight: b })));
  const totalA = observations.reduce((sum, { a }) => sum + a, 0);
  const totalB = observations.reduce((sum, { b }) => sum + b, 0);
  const variance = observations.reduce(
    (sum, { reward, a, b }) => sum + ((a * (reward - meanA)) / totalA - (b * (reward - meanB)) / totalB) ** 2,
    0,
  );
  const difference = meanA - meanB;
  const half = NORMAL_QUANTILE * Math.sqrt(variance);
  return { difference, low: difference - half, high: difference + half };
}
