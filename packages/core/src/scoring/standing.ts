import { clamp } from "./bounds.js";

/**
 * How a list's candidates stand between what an irrelevant memory looks like to this store and the best one found.
 *
 *     standing = clamp((s − level) / (top − level), 0, 1)
 *
 * The level is the mean similarity of the candidates beyond the first `topK`; all stand at 1 where there are none, or none
 * stands above the level. Invariant to a·s + b.
 *
 * @param similarities best first, as the host returned them
 */
export function standings(similarities: Float64Array, topK: number): Float64Array {
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
  const standing = new Float64Array(count).fill(1);
  if (count <= topK || !(range > 0)) return standing;
  for (let i = 0; i < count; i++) standing[i] = clamp(((similarities[i] as number) - level) / range, 0, 1);
  return standing;
}
