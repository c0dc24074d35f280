import { contextVector, turnTowards } from "./context-direction.js";
import { HASHED_DIMS, hashedVector } from "./hashed-vector.js";
import { PROJECTED_DIMS, project } from "./projection.js";
import { dequantise, quantise } from "./quantise.js";
import { type Found, smoothed } from "./smoothing.js";

/** Dimensions of the longest request vector. */
export const MAX_DIMS: number = Math.max(PROJECTED_DIMS, HASHED_DIMS);

/** The vector of a request, in the form that ranking, learning and the ledger share. */
export interface RequestVector {
  readonly source: "host" | "hashed";
  /** Length of the given vector, before projection. */
  readonly length: number;
  /** At most {@link MAX_DIMS} signed bytes. */
  readonly bytes: Int8Array;
  /** The unit vector of `bytes`. */
  readonly unit: Float32Array;
}

/** The host's vector, projected and turned towards its context. Undefined for a zero vector. */
export function hostVector(vector: ArrayLike<number>, context: string): RequestVector | undefined {
  return requestVector("host", vector.length, turnTowards(project(vector), context));
}

/**
 * The hashed vector of a text, smoothed by the request's candidates and turned towards its context. The context's direction stands in for
 * the vector of a text without words. Undefined where there is neither.
 */
export function textVector(text: string, context: string, found: Found): RequestVector | undefined {
  const vector = hashedVector(text) ?? contextVector(context, HASHED_DIMS);
  return vector && requestVector("hashed", HASHED_DIMS, turnTowards(smoothed(vector, found), context));
}

/** Quantises and restores, so that ranking uses the recorded bits. */
function requestVector(
  source: RequestVector["source"],
  length: number,
  vector: Float32Array,
): RequestVector | undefined {
  const bytes = quantise(vector);
  return bytes && { source, length, bytes, unit: dequantise(bytes) };
}
