import { hashedVector } from "./hashed-vector.js";
import { project } from "./projection.js";
import { dequantise, quantise } from "./quantise.js";

/** The one vector that says what kind of request this is, in the form that ranking, learning and the ledger share. */
export interface RequestVector {
  readonly source: "host" | "hashed";
  /** Length of the vector that was given, before projection. */
  readonly length: number;
  /** At most 256 signed bytes. */
  readonly bytes: Int8Array;
  /** The unit vector of `bytes`. */
  readonly unit: Float32Array;
}

/** Projects, quantises and restores, so that what is ranked with is bit for bit what is recorded. Undefined for a zero vector. */
export function hostVector(vector: ArrayLike<number>): RequestVector | undefined {
  const bytes = quantise(project(vector));
  return bytes && { source: "host", length: vector.length, bytes, unit: dequantise(bytes) };
}

/** The hashed vector of a text in the same form. Undefined for a text without words. */
export function textVector(text: string): RequestVector | undefined {
  const vector = hashedVector(text);
  const bytes = vector && quantise(vector);
  return bytes && { source: "hashed", length: bytes.length, bytes, unit: dequantise(bytes) };
}
