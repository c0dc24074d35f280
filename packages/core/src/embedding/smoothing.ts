import { relativeSimilarities } from "../scoring/relative-similarity.js";
import { addScaled, toUnit } from "../scoring/vectors.js";
import { mix } from "./mix.js";
import { textHash } from "./text-hash.js";

/** How many of the nearest memories lend their texts. Range 3..10. */
const NEIGHBOURS = 8;
/** Weight of their texts together, beside the request's own 1. Range 0..2. */
const TEXTS = 0.75;
/** How sharply a text's part falls with the relative similarity of its memory. Range 1..4. */
const POWER = 1.5;
/** Weight of the ids of the memories found. Range 0.5..2.5. */
const FOUND = 0.75;
/** Candidates that count as found. */
const CANDIDATES = 50;

/** Dimensions that a memory's id sets. */
const DIMS_OF_ID = 8;
const ID_SEED = 77;

/** The candidates of a request given as a text. */
export interface Found {
  readonly ids: readonly string[];
  /** Best first. */
  readonly similarities: Float64Array;
  readonly topK: number;
  /** The hashed vector of a candidate's text, by its place; undefined when it has none. */
  neighbour(place: number): Float32Array | undefined;
}

/**
 * A request vector smoothed by the request's candidates. Requests that share few words and find the same memories become alike,
 * by the ids of the memories and by the texts of the nearest ones.
 *
 *     x = unit(h(q) + 0.75 · Σ ω_i h(m_i) + 0.75 · unit(Σ relative_i r(id_i)))
 *
 * ω_i ∝ relative_i^1.5 over the 8 nearest with a text, Σ ω = 1; r(id): ±1 in 8 of the dimensions, drawn from the id alone, over the
 * first 50 candidates. Chosen on hwu64 and clinc150, against 1.5 of the texts alone: the same success, nDCG@5 +.008 ±.006, and .011 ±.010
 * less lost on kinds of request that are new.
 *
 * @param request h(q), a unit vector; not changed
 */
export function smoothed(request: Float32Array, found: Found): Float32Array {
  const relative = relativeSimilarities(found.similarities, found.topK);
  const sum = Float32Array.from(request);
  addTexts(sum, found, relative);
  addScaled(sum, FOUND, foundVector(found.ids, relative, sum.length));
  return toUnit(sum);
}

function addTexts(sum: Float32Array, { neighbour, similarities }: Found, relative: Float64Array): void {
  const near: { readonly vector: Float32Array; readonly part: number }[] = [];
  let total = 0;
  for (let place = 0; place < similarities.length && near.length < NEIGHBOURS; place++) {
    const vector = neighbour(place);
    if (!vector) continue;
    const part = (relative[place] as number) ** POWER;
    near.push({ vector, part });
    total += part;
  }
  if (total > 0) for (const { vector, part } of near) addScaled(sum, (TEXTS * part) / total, vector);
}

/** Direction of the ids of the memories found, weighted by relative similarity; a zero vector where none stands out. */
function foundVector(ids: readonly string[], relative: Float64Array, dims: number): Float32Array {
  const vector = new Float32Array(dims);
  for (let place = 0; place < Math.min(ids.length, CANDIDATES); place++) {
    const part = relative[place] as number;
    if (part === 0) continue;
    const hash = textHash(ids[place] as string, ID_SEED);
    for (let i = 0; i < DIMS_OF_ID; i++) {
      const bits = mix(hash + i);
      const target = (bits >>> 1) % dims;
      vector[target] = (vector[target] as number) + (bits & 1 ? part : -part);
    }
  }
  return toUnit(vector);
}
