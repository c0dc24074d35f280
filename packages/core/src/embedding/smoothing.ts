import { standings } from "../scoring/standing.js";
import { addScaled, toUnit } from "../scoring/vectors.js";

export const SMOOTHING = {
  /** How many of the nearest memories lend their texts. Range 3..10. */
  neighbours: 8,
  /** Their weight together, beside the request's own 1. Range 0.5..2. */
  weight: 1.5,
  /** How sharply a neighbour's part falls with its standing in the list. Range 1..4. */
  power: 1.5,
} as const;

/** What a request given as a text has found. */
export interface Found {
  /** Best first. */
  readonly similarities: Float64Array;
  readonly topK: number;
  /** The hashed vector of a candidate's text, by its place; undefined when it has none. */
  neighbour(place: number): Float32Array | undefined;
}

/**
 * A request vector that borrows from the memories its request already found, so that requests which share few words and find
 * the same memories become alike.
 *
 *     x = unit(h(q) + 1.5 · Σ ω_i h(m_i))        ω_i ∝ standing_i^1.5 over the 8 nearest with a text, Σ ω = 1
 *
 * Chosen on hwu64 and clinc150: keeps 98 % and 100 % of the gain that an embedding fitted to the texts gives there, where the plain
 * hashed vector keeps 80 % and 73 %.
 *
 * @param request h(q), a unit vector; not changed
 */
export function smoothed(request: Float32Array, { similarities, topK, neighbour }: Found): Float32Array {
  const standing = standings(similarities, topK);
  const near: { readonly vector: Float32Array; readonly part: number }[] = [];
  let total = 0;
  for (let place = 0; place < similarities.length && near.length < SMOOTHING.neighbours; place++) {
    const vector = neighbour(place);
    if (!vector) continue;
    const part = (standing[place] as number) ** SMOOTHING.power;
    near.push({ vector, part });
    total += part;
  }
  const sum = Float32Array.from(request);
  if (total > 0) for (const { vector, part } of near) addScaled(sum, (SMOOTHING.weight * part) / total, vector);
  return toUnit(sum);
}
