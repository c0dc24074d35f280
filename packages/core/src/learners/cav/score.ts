import { clamp } from "../../scoring/bounds.js";
import { spread } from "../../scoring/spread.js";
import type { ScoreRequest, Scores } from "../learner.js";
import { centre, gate, scalarUtility, spreadScale, utility } from "./formulas.js";
import { CAV } from "./parameters.js";
import type { CavMemory, CavShared } from "./state.js";

/**
 * Similarity plus the bounded, gated expectation of extra success; σ' is the collection's spread over the reference spread.
 *
 *     score_m = s_m + clamp(20 σ' · gate · u_m, −σ', +σ')
 *
 * Without a vector in the collection's space the scalar advantage stands in: `1.5 σ' · gate · a / (n + 5)`.
 */
export function score(request: ScoreRequest<CavShared, CavMemory>): Scores {
  const { shared, memories, similarities, vector } = request;
  const count = similarities.length;
  const scores = new Float64Array(count);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const open = shared ? gate(shared) : CAV.gateFloor;
  const scale = spreadScale(shared && shared.spreadCount > 0 ? shared.spread : spread(similarities));
  const cap = CAV.cap * scale;
  const z = vector && centre(shared, vector);
  const weight = (z ? CAV.weight : CAV.scalarWeight) * scale * open;
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const memory = memories[i];
    let learned = 0;
    if (memory && memory.evidence > 0) {
      unchanged = false;
      const expected = z ? utility(memory, z) : scalarUtility(memory);
      utilities[i] = expected;
      evidence[i] = memory.evidence;
      learned = clamp(weight * expected, -cap, cap);
    }
    scores[i] = (similarities[i] as number) + learned;
  }
  return { score: scores, utility: utilities, evidence, gate: open, unchanged };
}
