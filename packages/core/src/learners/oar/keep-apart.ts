import { bestFirst } from "../../scoring/order.js";
import { pooled } from "../../scoring/pooled.js";
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
  /** Takes the discounts, ≤ 0. */
  readonly overlaps: Float64Array;
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
  const { topK, rows, sketches, utilities, evidence, weight, overlaps } = company;
  const count = scores.length;
  overlaps.set(scores);
  /** The chosen ones, then the other contenders by their scores; ties in the host's order. */
  const list = bestFirst(scores, topK + OAR.overlapReach + 1);
  const [outsider] = list.splice(topK + OAR.overlapReach);
  /** Greatest cosine of a candidate with the chosen ones compared so far, and their number. */
  const alike = pooled(count);
  const compared = pooled(count);
  const shown = Math.min(topK, list.length);
  // Scores only fall, so a contender is compared with the chosen ones only when it comes first.
  for (let place = 0; place < shown; ) {
    const first = list[place] as number;
    const row = rows[first] as number;
    let most = alike[first] as number;
    if ((utilities[first] as number) <= 0) {
      for (let other = compared[first] as number; other < place; other++) {
        const chosen = rows[list[other] as number] as number;
        // Two candidates of one memory are not compared.
        if (row !== chosen) most = Math.max(most, sketches.cosine(row, chosen));
      }
      compared[first] = place;
    }
    if (most === alike[first]) {
      place += 1;
      continue;
    }
    alike[first] = most;
    const score = (overlaps[first] as number) - weight * overlap(most, evidence[first] as number);
    scores[first] = score;
    let to = place;
    for (; to + 1 < list.length; to++) {
      const next = list[to + 1] as number;
      const lead = (scores[next] as number) - score;
      if (lead < 0 || (lead === 0 && first < next)) break;
      list[to] = next;
    }
    list[to] = first;
  }
  // NaN without an outsider.
  const above = (scores[outsider as number] as number) - (scores[list[shown - 1] as number] as number);
  if (above >= 0) {
    const fall = above + weight * BELOW;
    for (let i = 0; i < count; i++) if (!list.includes(i)) scores[i] = (scores[i] as number) - fall;
  }
  for (let i = 0; i < count; i++) overlaps[i] = (scores[i] as number) - (overlaps[i] as number);
}
