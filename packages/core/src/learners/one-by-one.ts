import type { DecodedTable } from "./decoded-table.js";
import type { ScoreRequest, Scores } from "./learner.js";

/** How a learner judges one candidate by itself. `memory` is undefined where nothing was learned. */
export interface Judgement<Memory> {
  utility(memory: Memory | undefined, candidate: number): number;
  evidence(memory: Memory): number;
  score(similarity: number, utility: number, candidate: number): number;
}

/**
 * Scores candidates one by one. The host's order stands while none of those that may move has a state; the ones behind
 * `movable` keep their similarity for a score.
 */
export function scoreOneByOne<Memory>(
  { table, rows, similarities }: Pick<ScoreRequest<unknown, DecodedTable<Memory>>, "table" | "rows" | "similarities">,
  judgement: Judgement<Memory>,
  movable: number = similarities.length,
): Scores {
  const count = similarities.length;
  const score = Float64Array.from(similarities);
  const utility = new Float64Array(count);
  const evidence = new Float64Array(count);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const memory = table.at(rows[i] as number);
    utility[i] = judgement.utility(memory, i);
    if (memory) evidence[i] = judgement.evidence(memory);
    if (i >= movable) continue;
    if (memory) unchanged = false;
    score[i] = judgement.score(similarities[i] as number, utility[i] as number, i);
  }
  return { score, utility, evidence, gate: 1, unchanged, ...(movable < count ? { movable } : {}) };
}
