import { clamp } from "../../scoring/bounds.js";
import { standings } from "../../scoring/standing.js";
import type { ScoreRequest, Scores } from "../learner.js";
import { centre } from "../request-model.js";
import { spreadScale } from "../running-spread.js";
import { folded } from "./footprint.js";
import { contrast, gate, localEvidence } from "./formulas.js";
import type { OarNumbers } from "./parameters.js";
import type { OarShared } from "./state.js";
import type { OarTable } from "./table.js";

/** Shrinkage and weight of the scalar advantage, where request and memory share no vector space. */
const SCALAR = { shrinkage: 5, weight: 1.5 } as const;

export function score(request: ScoreRequest<OarShared, OarTable>, first: OarShared, n: OarNumbers): Scores {
  const { table, rows, similarities, vector, topK, shared = first } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = gate(shared, n) * contrast(shared, n);
  const scale = spreadScale(shared, similarities);
  const standing = standings(similarities, topK);
  const z = vector && centre(shared, vector);
  const products = z && table.vectors.dots(rows, z);
  const familiar = z ? familiarity(request, folded(z), standing, scale, n) : 1;
  const bonus = n.freshBonus * (1 - n.freshVoted * shared.voteRate);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    let seen = 0;
    let learned = 0;
    if (row >= 0) {
      unchanged = open === 0 && unchanged;
      seen = table.evidence[row] as number;
      const logit = products ? (products[i] as number) : Number.NaN;
      const scalar = (table.advantage[row] as number) / (seen + SCALAR.shrinkage);
      const directed = !Number.isNaN(logit);
      utilities[i] = directed ? logit : scalar;
      evidence[i] = seen;
      const age = shared.lessons - (table.lastRun[row] as number);
      const shift = directed
        ? n.weight * shaped(logit, table.vectors.norm[row] as number, familiar, age, n)
        : SCALAR.weight * scalar;
      const votes = Math.min(1, (table.votes[row] as number) / n.votesForCap);
      learned = clamp(open * shift, -n.penaltyCap, n.boostCap + n.votedBoostCap * votes);
    }
    learned += (open * bonus * (standing[i] as number) ** n.freshPower) / (1 + seen / n.freshEvidence);
    scores[i] = (similarities[i] as number) + scale * learned;
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged };
}

/**
 * What a logit is worth: a boost by how much the request is like those that it was earned by and how familiar it is, a penalty
 * by how long ago the memory was last tried.
 */
function shaped(logit: number, norm: number, familiar: number, age: number, n: OarNumbers): number {
  if (logit > 0) return (familiar * logit * logit) / norm / n.boostCosine;
  return logit * Math.exp(-age / n.forgiveness);
}

/** How far a request is like those that the best candidates were shown for, in [0, 1]. */
function familiarity(
  { table, rows, similarities, topK }: ScoreRequest<OarShared, OarTable>,
  near: Float32Array,
  standing: Float64Array,
  scale: number,
  n: OarNumbers,
): number {
  const products = table.footprints.dots(rows, near);
  let local = 0;
  let total = 0;
  let top = Number.NEGATIVE_INFINITY;
  let level = 0;
  const count = similarities.length;
  for (let i = 0; i < count; i++) {
    const similarity = similarities[i] as number;
    if (similarity > top) top = similarity;
    if (i >= topK) level += similarity / (count - topK);
    const weight = (standing[i] as number) ** n.familiarPower;
    total += weight;
    const product = products[i] as number;
    if (product > 0) local += weight * localEvidence(product, table.footprints.norm[rows[i] as number] as number, n);
  }
  const height = count > topK && scale > 0 ? (top - level) / scale : 0;
  const found = Math.log(local / total + n.familiarFloor) - n.familiarHeight * height;
  return clamp((found - n.familiarFrom) / n.familiarWidth, 0, 1);
}
