/** A share with its 95 % interval. */
export interface Share {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

const Z = 1.96;

/**
 * Wilson's interval of a mean reward over `runs` runs, runs ≥ 1. Exact in its coverage for rewards of 0 and 1, too wide for those between.
 *
 * centre = (p + z²/2n) / (1 + z²/n), half width = z/(1 + z²/n) · √(p(1 − p)/n + z²/4n²)
 *
 * @param mean in [0, 1]
 */
export function wilson(mean: number, runs: number): Share {
  const scale = 1 + Z ** 2 / runs;
  const centre = (mean + Z ** 2 / (2 * runs)) / scale;
  const half = (Z / scale) * Math.sqrt((mean * (1 - mean)) / runs + Z ** 2 / (4 * runs ** 2));
  return { share: mean, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
