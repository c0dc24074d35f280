import type { Scores } from "../learners/learner.js";
import type { ShownItem } from "../ledger/events.js";
import type { RankedItem } from "./types.js";

/** The part of learning in one candidate's place; zeros when learning was left out. */
export function termsOf(
  index: number,
  similarities: Float64Array,
  scores: Scores | undefined,
): Pick<ShownItem, "learned" | "utility" | "evidence"> {
  if (!scores) return { learned: 0, utility: 0, evidence: 0 };
  return {
    learned: (scores.score[index] as number) - (similarities[index] as number),
    utility: scores.utility[index] as number,
    evidence: scores.evidence[index] as number,
  };
}

export function toRankedItem(item: ShownItem, ids: readonly string[], similarities: Float64Array): RankedItem {
  const similarity = similarities[item.candidate] as number;
  return {
    index: item.index,
    id: ids[item.candidate] as string,
    handle: item.handle === 0 ? "" : `m${item.handle}`,
    score: similarity + item.learned,
    similarity,
    learned: item.learned,
    utility: item.utility,
    evidence: item.evidence,
  };
}
