import { bestFirst } from "../../scoring/order.js";
import { overlap } from "./formulas.js";
import * as OAR from "./parameters.js";
import type { Sketches } from "./sketches.js";

/** A list that is about to be shown. All arrays are parallel. */
interface Company {
  /** Number of memories shown. ≥ 1 */
  readonly topK: number;
  /** Each candidate's row of `sketches`, −1 for none. */
  readonly rows: Int32Array;
  readonly sketches: Sketches;
  /** Expected effect of each for this request; 0 when nothing is known. */
  readonly utilities: Float64Array;
  readonly evidence: Float64Array;
  /** Similarity per unit of overlap. > 0 */
  readonly weight: number;
}

/** Distance of the best of the others below the last chosen one, per unit of weight. */
const BELOW = 1e-9;

/**
 * Chooses the list from its first place to its last, and discounts each memory by its overlap with those chosen before it. Memories
 * that were always shown together share all credit and blame; showing them apart separates their effects. The greedy choice is that
 * of maximal marginal relevance (Carbonell & Goldstein 1998), with learned vectors in place of texts.
 *
 *     score_m −= weight · max over the chosen of overlap(cos(v_m, v_chosen), n_m)          where u_m ≤ 0
 *
 * Memories with positive utility are never discounted: their effect is already known.
 *
 * The best `topK + 5` compete for the places. The rest is lowered together until it lies below the last chosen one.
 *
 * @param scores changed in place
 */
export function keepApart(scores: Float64Array, company: Company): void {
  const reach = company.topK + OAR.overlapReach;
  const best = bestFirst(scores, reach + 1);
  const outsider = best[reach];
  const contenders = best.slice(0, reach);
  const least = choose(scores, contenders, company);
  if (outsider === undefined || (scores[outsider] as number) < least) return;
  const fall = (scores[outsider] as number) - least + company.weight * BELOW;
  for (let i = 0; i < scores.length; i++) if (!contenders.includes(i)) scores[i] = (scores[i] as number) - fall;
}

/**
 * Scores only fall, so a contender is compared with the chosen ones only when it comes first.
 *
 * @returns the score of the last chosen one
 */
function choose(
  scores: Float64Array,
  contenders: readonly number[],
  { topK, rows, sketches, utilities, evidence, weight }: Company,
): number {
  const count = contenders.length;
  const rowOf = contenders.map((contender) => rows[contender] as number);
  const score = contenders.map((contender) => scores[contender] as number);
  /** Greatest cosine with the chosen ones compared so far, and their number. */
  const alike = contenders.map(() => 0);
  const compared = contenders.map(() => 0);
  const isChosen = contenders.map(() => false);
  const chosen: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  while (chosen.length < Math.min(topK, count)) {
    let first = -1;
    let highest = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < count; i++) {
      const value = score[i] as number;
      if (isChosen[i] || value < highest) continue;
      // Ties keep the host's order.
      if (value === highest && (contenders[i] as number) > (contenders[first] as number)) continue;
      highest = value;
      first = i;
    }
    const row = rowOf[first] as number;
    let most = alike[first] as number;
    const contender = contenders[first] as number;
    const from = (utilities[contender] as number) > 0 ? chosen.length : (compared[first] as number);
    for (let place = from; place < chosen.length; place++) {
      const other = chosen[place] as number;
      // Two candidates of one memory are not compared.
      if (row !== rowOf[other]) most = Math.max(most, sketches.cosine(row, rowOf[other] as number));
    }
    compared[first] = chosen.length;
    if (most > (alike[first] as number)) {
      alike[first] = most;
      score[first] = (scores[contender] as number) - weight * overlap(most, evidence[contender] as number);
    } else {
      isChosen[first] = true;
      chosen.push(first);
      least = highest;
    }
  }
  contenders.forEach((contender, i) => {
    scores[contender] = score[i] as number;
  });
  return least;
}
