import type { ScoreRequest } from "@qavr/core/learner";
import { OAR1 } from "./parameters.js";
import type { Oar1Shared } from "./state.js";
import type { Oar1Table } from "./table.js";

/**
 * Familiarity of a request: how often the best memories of its list were shown for similar requests.
 *
 *     local_m = e · cos³        e = E · z, cos = e / |E|, 0 where they point apart        E: the memory's footprint
 *     x = ln(Σ relative^2.5 local / Σ relative^2.5 + 0.05) − 4 · (top − level) / σ'
 *
 * @param near the request's direction, folded as footprints are
 * @param relative similarities of the candidates, from 0 at the level to 1 at the top
 * @param scale σ', the collection's spread over the reference spread
 */
export function familiarity(
  { table, rows, similarities, topK }: ScoreRequest<Oar1Shared, Oar1Table>,
  near: Float32Array,
  relative: Float64Array,
  scale: number,
): number {
  const { footprints } = table;
  const products = footprints.dots(rows, near);
  const count = similarities.length;
  let local = 0;
  let total = 0;
  let top = Number.NEGATIVE_INFINITY;
  let beyond = 0;
  for (let i = 0; i < count; i++) {
    const similarity = similarities[i] as number;
    if (similarity > top) top = similarity;
    if (i >= topK) beyond += similarity;
    const weight = (relative[i] as number) ** OAR1.familiarPower;
    total += weight;
    const product = products[i] as number;
    // NaN where there is no footprint.
    if (product > 0) local += weight * product * (product / (footprints.norm[rows[i] as number] as number)) ** 3;
  }
  const height = count > topK ? (top - beyond / (count - topK)) / scale : 0;
  return Math.log(local / total + OAR1.familiarFloor) - OAR1.familiarHeight * height;
}
