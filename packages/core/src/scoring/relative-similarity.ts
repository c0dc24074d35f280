import { clamp } from "./bounds.js";

/**
 * Place of each candidate between the similarity of an irrelevant memory and that of the best one found.
 *
 *     relative = clamp((s − level) / (top − level), 0, 1)
 *
 * The level is the mean similarity of the candidates beyond the first `topK`. All values are 1 when there are no such candidates,
 * or none lies above the level. Invariant to a·s + b.
 *
 * @param similarities best first, as the host returned them
 * @param relative takes the values, and is returned
 */
export function relativeSimilarities(
  similarities: Float64Array,
  topK: number,
  relative: Float64Array = new Float64Array(similarities.length),
): Float64Array {
  const count = similarities.length;
  let top = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const similarity = similarities[i] as number;
    if (similarity > top) top = similarity;
    if (i >= topK) sum += similarity;
  }
  const level = sum / (count - topK);
  const range = top - level;
  if (count <= topK || !(range > 0)) return relative.fill(1);
  for (let i = 0; i < count; i++) relative[i] = clamp(((similarities[i] as number) - level) / range, 0, 1);
  return relative;
}
