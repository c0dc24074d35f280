/** A memory that a search found, by its number. */
export interface Hit {
  readonly n: number;
  /** In [0, 1], higher is better. */
  readonly similarity: number;
}

/** Best first; equal ones in the order in which they were added. */
export const bySimilarity = (a: Hit, b: Hit): number => b.similarity - a.similarity || a.n - b.n;

/** Puts an item at its place in a sorted list of the best so far. Beyond `limit` the last one falls out. */
export function keepBest<Item>(best: Item[], limit: number, item: Item, order: (a: Item, b: Item) => number): void {
  let place = best.length;
  while (place > 0 && order(item, best[place - 1] as Item) < 0) place--;
  if (place === limit) return;
  best.splice(place, 0, item);
  if (best.length > limit) best.pop();
}

/** The best of a search by meaning and of one by words, by the mean of both similarities. `cosineOf`: of a memory that is found by words. */
export function bestOfBoth(
  near: readonly { readonly memory: number; readonly cosine: number }[],
  byWords: readonly Hit[],
  cosineOf: (n: number) => number,
  limit: number,
): Hit[] {
  const words = new Map(byWords.map(({ n, similarity }) => [n, similarity]));
  const cosines = new Map(near.map(({ memory, cosine }) => [memory, cosine]));
  for (const n of words.keys()) if (!cosines.has(n)) cosines.set(n, cosineOf(n));
  return [...cosines]
    .map(([n, cosine]) => ({ n, similarity: (Math.max(0, cosine) + (words.get(n) ?? 0)) / 2 }))
    .sort(bySimilarity)
    .slice(0, limit);
}
