import type { Random } from "@qavr/lab";

/**
 * Shares of traffic by rank, `p_i = (1 / i) / Σ_j (1 / j)` (Zipf, 1949): few namespaces get most of it, as tenants, words and pages do.
 *
 * @param count namespaces, at least 1
 * @returns descending, sum 1
 */
export function zipfShares(count: number): Float64Array {
  const shares = Float64Array.from({ length: count }, (_, place) => 1 / (place + 1));
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
}

/** Draws ranks, 0-based, with these shares as chances: by bisection of their running sum. */
export function drawRanks(shares: Float64Array, random: Random): () => number {
  let sum = 0;
  const upTo = shares.map((share) => {
    sum += share;
    return sum;
  });
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, upTo.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
