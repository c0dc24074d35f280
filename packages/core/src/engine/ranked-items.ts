import type { ShownItem } from "../ledger/events.js";
import type { EngineScores } from "./score-candidates.js";
import type { RankedItem } from "./types.js";

const NO_TERMS = { learned: 0, bonus: 0, overlap: 0, unverified: 0, utility: 0, evidence: 0 } as const;

/** The terms that put a candidate into its place; zeros when learning was left out. */
export function termsOf(
  index: number,
  similarities: Float64Array,
  scores: EngineScores | undefined,
): { readonly [Term in keyof typeof NO_TERMS]: number } {
  if (!scores) return NO_TERMS;
  const { score, utility, evidence, terms, unbound } = scores;
  // The learner's own score, before an unverified memory was held back.
  const own = (unbound ?? score)[index] as number;
  return {
    learned: terms ? (terms.learned[index] as number) : own - (similarities[index] as number),
    bonus: terms ? (terms.bonus[index] as number) : 0,
    overlap: terms ? (terms.overlap[index] as number) : 0,
    unverified: (score[index] as number) - own,
    utility: utility[index] as number,
    evidence: evidence[index] as number,
  };
}

export function toRankedItem(item: ShownItem, id: string, similarity: number): RankedItem {
  const { index, rank, handle, learned, bonus, overlap, unverified, utility, evidence } = item;
  return {
    index,
    rank,
    id,
    handle: handle === 0 ? "" : `m${handle}`,
    score: similarity + learned + bonus + overlap + unverified,
    similarity,
    learned,
    bonus,
    overlap,
    unverified,
    utility,
    evidence,
  };
}
