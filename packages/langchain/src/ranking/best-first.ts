import type { Found } from "./host.js";

/**
 * What a host found, best first. A store that promises no order returns the nearest in any: of a longer list than was asked for,
 * its own first `k` would be a handful at random.
 *
 * @param similarities Parallel to the documents, higher is better.
 * @returns the reordered list and, parallel to it, the places in the host's own.
 */
export function bestFirst(
  { documents, scores, ...found }: Found,
  similarities: readonly number[],
): { readonly found: Found; readonly similarities: number[]; readonly places: number[] } {
  const places = similarities.map((_, place) => place);
  places.sort((a, b) => (similarities[b] as number) - (similarities[a] as number) || a - b);
  const pick = <Item>(items: readonly Item[]): Item[] => places.map((place) => items[place] as Item);
  return {
    found: { ...found, documents: pick(documents), ...(scores ? { scores: pick(scores) } : {}) },
    similarities: pick(similarities),
    places,
  };
}
