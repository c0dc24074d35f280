import type { Candidate, RankRequest } from "@qavr/core";
import type { VectorIndex } from "./vector-index.js";

/** Text of about the length of a short lesson. */
const TEXT =
  "When the card has not arrived after two weeks, check the address first, then offer a new one at no cost. ".repeat(2);

/** Searches and maps the hits to candidates: what an adapter does before it calls the engine. */
export type SearchRequest = (
  query: number,
  options?: { readonly topK?: number; readonly texts?: boolean; readonly record?: boolean },
) => RankRequest;

/** @param lists how many candidates are fetched, and how many results are shown unless a request says otherwise */
export function searchRequest(
  index: VectorIndex,
  { fetched, shown }: { readonly fetched: number; readonly shown: number },
): SearchRequest {
  // A store in this process hands out the ids that its documents carry: the same strings every time.
  const ids = Array.from({ length: index.count }, (_, label) => `m${label}`);
  return (query, { topK = shown, texts = false, record = true } = {}) => {
    const { neighbors, distances } = index.search(query, fetched);
    const candidates = neighbors.map((label, place): Candidate => {
      const similarity = 1 - (distances[place] as number);
      const id = ids[label] as string;
      return texts ? { id, similarity, text: `${label} ${TEXT}` } : { id, similarity };
    });
    return { vector: index.queries[query] as Float32Array, candidates, topK, record };
  };
}
