import type { AdvantageTable } from "./advantage-table.js";
import type { ScoreRequest, Scores } from "./learner.js";
import { type RunningSpread, spreadScale } from "./running-spread.js";

/**
 * Similarity plus what each memory's vector says of the request, in the collection's spread and without a bound:
 *
 *     score = similarity + weight · σ' · utility(v · z, n)
 *
 * A memory that learned without a vector, or in another space, keeps its similarity.
 *
 * @param z the request as the vectors were learned along, unit norm; undefined when it has no vector
 * @param utility of a memory, from `v · z` and its evidence n > 0
 */
export function scoreAlong(
  { shared, table, rows, similarities }: ScoreRequest<RunningSpread, AdvantageTable>,
  z: Float32Array | undefined,
  weight: number,
  utility: (product: number, evidence: number) => number,
): Scores {
  const count = similarities.length;
  const scores = Float64Array.from(similarities);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const scale = weight * spreadScale(shared, similarities);
  const products = z && table.dots(rows, z);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    if (row < 0) continue;
    evidence[i] = table.evidence[row] as number;
    const product = products ? (products[i] as number) : Number.NaN;
    if (Number.isNaN(product)) continue;
    unchanged = false;
    utilities[i] = utility(product, evidence[i] as number);
    scores[i] = (similarities[i] as number) + scale * (utilities[i] as number);
  }
  return { score: scores, utility: utilities, evidence, gate: 1, unchanged };
}
