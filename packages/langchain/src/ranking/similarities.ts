import type { DocumentInterface } from "@langchain/core/documents";
import { byRank } from "@qavr/core/adapter";
import type { Found } from "./host.js";
import { isBestFirst, knownDirection } from "./score-directions.js";

/**
 * How a store's scores become similarities.
 * - `auto`: higher or lower is better is read off the best-first list, then off a table of stores, else `rank`
 * - `similarity`: higher is better, taken as is
 * - `distance`: lower is better, `1 − distance`
 * - `rank`: the scores are ignored, `1 − place / count`
 * - a function: from score, place (0-based) and document to a finite number, higher is better
 *
 * The scale must be the same for every request of a collection. Any scale will do.
 */
export type ScoreKind =
  | "auto"
  | "similarity"
  | "distance"
  | "rank"
  | ((score: number, place: number, document: DocumentInterface) => number);

/** The named kinds of {@link ScoreKind}. */
export const SCORE_KINDS = ["auto", "similarity", "distance", "rank"] as const;

/**
 * Similarities of a result list, higher is better, all finite. A list with a score that is not finite (a store that drops
 * its scores, a zero vector) falls back to rank: half a scale would be worse than none.
 *
 * @param raw The host's scores, parallel to `documents`.
 * @param store The host, asked for its type when the list itself does not tell the direction.
 */
export function toSimilarities(
  raw: readonly (number | undefined)[],
  kind: ScoreKind,
  documents: readonly DocumentInterface[],
  store?: unknown,
): number[] {
  if (kind === "rank" || !raw.every(isFiniteNumber)) return byRank(raw.length);
  if (typeof kind === "function") {
    const own = raw.map((score, place) => kind(score, place, documents[place] as DocumentInterface));
    return own.every(isFiniteNumber) ? own : byRank(raw.length);
  }
  const direction = kind === "auto" ? directionOf(raw, store) : kind;
  if (direction === undefined) return byRank(raw.length);
  return direction === "distance" ? raw.map((distance) => 1 - distance) : [...raw];
}

function directionOf(scores: readonly number[], store: unknown): "similarity" | "distance" | undefined {
  const first = scores[0];
  const last = scores.at(-1);
  if (first === undefined || last === undefined) return undefined;
  if (isBestFirst(store) && first !== last) return first > last ? "similarity" : "distance";
  return knownDirection(store);
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * The host's documents, best first. A store that promises no order returns the nearest ones in any order, so the first `k` of a longer
 * list would be a random choice.
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
