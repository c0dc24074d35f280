/** Similarities for a list that has none: `1 − place / count`, the best is 1. */
export function byRank(count: number): number[] {
  return Array.from({ length: count }, (_, place) => 1 - place / count);
}
