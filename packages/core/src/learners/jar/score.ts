import { clamp } from "../../scoring/bounds.js";
import { standings } from "../../scoring/standing.js";
import type { AdvantageTable } from "../advantage-table.js";
import type { ScoreRequest, Scores } from "../learner.js";
import { centre } from "../request-model.js";
import { spreadScale } from "../running-spread.js";
import { familiarity } from "./familiarity.js";
import { freshness, gate, scalarUtility, shaped } from "./formulas.js";
import { JAR, type JarSettingNumbers } from "./parameters.js";
import { type JarShared, sharedCodec } from "./state.js";

const FIRST = sharedCodec.empty();

/**
 * Similarity plus what the model says of each memory for this request, gated, bounded and measured in the collection's spread
 * (σ' is its ratio to the reference spread), plus the bonus of memories that were tried little.
 *
 *     y_m = clamp(2.2 · gate · F · shaped(v · z), −1, +0.5)
 *     score_m = s_m + σ' (y_m + gate · freshness_m)
 *
 * Where request and memory share no vector space the scalar advantage stands in: `1.5 a / (n + 5)` for `shaped(v · z)`.
 */
export function score(request: ScoreRequest<JarShared, AdvantageTable>, setting: JarSettingNumbers): Scores {
  const { shared, table, rows, similarities, vector, topK } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = gate(shared ?? FIRST);
  const scale = spreadScale(shared, similarities);
  const z = vector && centre(shared, vector);
  const known =
    shared && z && setting.familiarity ? familiarity(shared, z, best(similarities), setting.familiarity) : 1;
  const products = z && table.dots(rows, z);
  const standing = standings(similarities, topK);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    let n = 0;
    let learned = 0;
    if (row >= 0) {
      unchanged = open === 0 && unchanged;
      n = table.evidence[row] as number;
      const logit = products ? (products[i] as number) : Number.NaN;
      const directed = !Number.isNaN(logit);
      const utility = directed ? logit : scalarUtility(table.advantage[row] as number, n);
      const shift = directed ? JAR.weight * shaped(logit, table.norm[row] as number) : JAR.scalarWeight * utility;
      utilities[i] = utility;
      evidence[i] = n;
      learned = clamp(open * known * shift, -JAR.penaltyCap, JAR.boostCap);
    }
    learned += open * freshness(standing[i] as number, n, setting);
    scores[i] = (similarities[i] as number) + scale * learned;
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged };
}

function best(similarities: Float64Array): number {
  return similarities.reduce((top, similarity) => Math.max(top, similarity), Number.NEGATIVE_INFINITY);
}
