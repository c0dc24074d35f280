import { clamp } from "../../scoring/bounds.js";
import type { AdvantageTable } from "../advantage-table.js";
import type { ScoreRequest, Scores } from "../learner.js";
import { centre } from "../request-model.js";
import { spreadScale } from "../running-spread.js";
import { gate, scalarUtility, shrunk } from "./formulas.js";
import { CAV } from "./parameters.js";
import type { CavShared } from "./state.js";

/**
 * Similarity plus the bounded, gated expectation of extra success; σ' is the collection's spread over the reference spread.
 *
 *     score_m = s_m + clamp(20 σ' · gate · u_m, −σ', +σ')
 *
 * Where request and memory share no vector space (no vector given, another embedding model, a memory that learned without one)
 * the scalar advantage stands in: `clamp(1.5 σ' · gate · a / (n + 5), −σ', +σ')`.
 */
export function score(request: ScoreRequest<CavShared, AdvantageTable>): Scores {
  const { shared, table, rows, similarities, vector } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = shared ? gate(shared) : CAV.gateFloor;
  const scale = spreadScale(shared, similarities);
  const cap = CAV.cap * scale;
  const z = vector && centre(shared, vector);
  const products = z && table.dots(rows, z);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    let learned = 0;
    if (row >= 0) {
      unchanged = false;
      const n = table.evidence[row] as number;
      const product = products ? (products[i] as number) : Number.NaN;
      const directed = !Number.isNaN(product);
      const expected = directed ? shrunk(product, n) : scalarUtility(table.advantage[row] as number, n);
      const weight = directed ? CAV.weight : CAV.scalarWeight;
      utilities[i] = expected;
      evidence[i] = n;
      learned = clamp(weight * scale * open * expected, -cap, cap);
    }
    scores[i] = (similarities[i] as number) + learned;
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged };
}
