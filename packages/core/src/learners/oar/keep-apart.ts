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
 * @param contenders best first, ties in the host's order
 * @returns the score of the last chosen one
 */
function choose(
  scores: Float64Array,
  contenders: readonly number[],
  { topK, rows, sketches, utilities, evidence, weight }: Company,
): number {
  const left = contenders.map((candidate) => ({
    candidate,
    row: rows[candidate] as number,
    score: scores[candidate] as number,
    /** Greatest cosine with the chosen ones compared so far, and their number. */
    alike: 0,
    compared: 0,
  }));
  const chosen: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (let first = left.shift(); first && chosen.length < topK; first = left.shift()) {
    const { candidate, row, alike } = first;
    if ((utilities[candidate] as number) <= 0) {
      for (; first.compared < chosen.length; first.compared++) {
        const other = chosen[first.compared] as number;
        // Two candidates of one memory are not compared.
        if (row !== other) first.alike = Math.max(first.alike, sketches.cosine(row, other));
      }
    }
    if (first.alike === alike) {
      chosen.push(row);
      least = scores[candidate] as number;
      continue;
    }
    const score = first.score - weight * overlap(first.alike, evidence[candidate] as number);
    scores[candidate] = score;
    const later = left.findIndex((other) => {
      const behind = score - (scores[other.candidate] as number);
      return behind > 0 || (behind === 0 && candidate < other.candidate);
    });
    left.splice(later < 0 ? left.length : later, 0, first);
  }
  return least;
}
