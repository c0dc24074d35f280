import {
  centre,
  clamp,
  keepApart,
  kept,
  relativeSimilarities,
  type ScoreRequest,
  type Scores,
  spreadScale,
} from "@qavr/core/learner";
import { familiarity } from "./familiarity.js";
import { footprintOf } from "./footprint.js";
import { boost, freshness, gate, penalty, scalarShare, scalarUtility, tried, voteRate } from "./formulas.js";
import { type Guard, OAR1 } from "./parameters.js";
import { type Oar1Shared, sharedCodec } from "./state.js";
import type { Oar1Table } from "./table.js";

const FIRST = sharedCodec.empty();

/**
 * Similarity plus the model's logit of each memory for this request, gated, bounded and scaled by the collection's spread (σ' is its
 * ratio to the reference spread), plus the bonus of memories with little evidence.
 *
 *     y = v · z                                  worth(y) = boost(y) or penalty(y)
 *     s = scalar advantage / (n + 5)             worth(s) = s or penalty(s)
 *     λ = scalarShare                            1 when request and memory share no vector space; no bonus then
 *     shift = (1 − λ) 2.2 worth(y) + λ 3 worth(s)
 *     score = similarity + σ' (clamp(gate · shift, −1, +0.8) + gate · freshness)
 *     score −= σ' gate (1 − vote rate) (1 − λ) overlap with the memories above it          when y ≤ 0
 *
 * With a guard, boosts and penalties are multiplied by `clamp(familiarity − from, 0, 1)`.
 */
export function score(
  request: ScoreRequest<Oar1Shared, Oar1Table>,
  guard: Guard | undefined,
  halfLife: number,
): Scores {
  const { table, rows, similarities, vector, topK, now, shared = FIRST } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = gate(shared);
  const scale = spreadScale(shared, similarities);
  const relative = relativeSimilarities(similarities, topK);
  const z = vector && centre(shared, vector, OAR1.centring);
  const products = z && table.vectors.dots(rows, z);
  const familiar = guard && z ? familiarity(request, footprintOf(z), relative, scale) : Number.POSITIVE_INFINITY;
  const boosts = guard ? clamp(familiar - guard.boosts, 0, 1) : 1;
  const penalties = guard ? clamp(familiar - guard.penalties, 0, 1) : 1;
  const votes = voteRate(shared);
  const byScalars = products ? scalarShare(shared) : 1;
  // Only penalties need it, and each read may miss the processor's caches.
  const ageOf = (row: number): number => shared.lessons - (table.lastRun[row] as number);
  const terms = {
    learned: new Float64Array(count),
    bonus: new Float64Array(count),
    overlap: new Float64Array(count),
    scale,
  };
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    let learned = 0;
    // Without a request vector nothing is explored.
    let bonus = products ? open * freshness(relative[i] as number, votes) : 0;
    if (row >= 0) {
      unchanged = open === 0 && unchanged;
      const left = kept(now - (table.at[row] as number), halfLife);
      const seen = left * (table.evidence[row] as number);
      evidence[i] = seen;
      const logit = products ? left * (products[i] as number) : Number.NaN;
      const isDirected = !Number.isNaN(logit);
      const share = isDirected ? byScalars : 1;
      bonus = isDirected ? tried(bonus, seen) : 0;
      let shift = 0;
      // Advantages are not read when vectors alone decide, for the same reason.
      if (share > 0) {
        const scalar = scalarUtility(left * (table.advantage[row] as number), seen);
        shift = share * OAR1.scalarWeight * (scalar > 0 ? boosts * scalar : penalties * penalty(scalar, ageOf(row)));
        utilities[i] = scalar;
      }
      if (isDirected) {
        const norm = left * (table.vectors.norm[row] as number);
        shift +=
          (1 - share) *
          OAR1.weight *
          (logit > 0 ? boosts * boost(logit, norm) : penalties * penalty(logit, ageOf(row)));
        utilities[i] = logit;
      }
      learned = clamp(open * shift, -OAR1.penaltyCap, OAR1.boostCap);
    }
    scores[i] = (similarities[i] as number) + scale * (learned + bonus);
    terms.learned[i] = scale * learned;
    terms.bonus[i] = scale * bonus;
  }
  const weight = products ? scale * open * (1 - votes) * (1 - byScalars) : 0;
  if (weight > 0) {
    keepApart(scores, { topK, rows, sketches: table.sketches, utilities, evidence, weight, overlaps: terms.overlap });
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged, terms };
}
