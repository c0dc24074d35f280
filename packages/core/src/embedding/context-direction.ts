import { addScaled, dot } from "../scoring/vectors.js";
import { recentMap } from "./recent-map.js";
import { textHash } from "./text-hash.js";

/** The context of a request that names none: it has no direction and is not counted. */
export const DEFAULT_CONTEXT = "default";

/**
 * Length of a named context's direction, relative to the request: at 0.5 one request in two contexts keeps a cosine of 0.8. Range 0.3..1; chosen on
 * hwu64 and clinc150 with two contexts in which half of the needs disagree on what helps.
 */
const WEIGHT = 0.5;

/** Contexts whose directions are remembered. */
const REMEMBERED = 1_000;

const directions = recentMap<string, Float32Array>(REMEMBERED);

/**
 * Turns a request towards the direction of its context, in place: `q += 0.5 · |q| · c(context)`.
 *
 * Evidence from one context counts there in full, and elsewhere as far as the requests still point the same way. A context without
 * evidence of its own falls back on that of the others. The default context turns nothing.
 */
export function turnTowards(vector: Float32Array, context: string): Float32Array {
  const direction = contextVector(context, vector.length);
  if (direction) addScaled(vector, WEIGHT * Math.sqrt(dot(vector, vector)), direction);
  return vector;
}

/** A fixed unit vector for a name: ±1/√dims, signs drawn from the name alone. Undefined for the default context. */
export function contextVector(context: string, dims: number): Float32Array | undefined {
  if (context === DEFAULT_CONTEXT) return undefined;
  const key = `${dims}:${context}`;
  const known = directions.get(key);
  if (known) return known;
  const direction = Float32Array.from(
    { length: dims },
    (_, i) => (textHash(context, i + 1) & 1 ? 1 : -1) / Math.sqrt(dims),
  );
  directions.set(key, direction);
  return direction;
}
