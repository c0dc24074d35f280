import { toUnit } from "../scoring/vectors.js";

const LEVELS = 127;

/**
 * A direction as signed bytes: each value divided by the greatest magnitude, times 127, rounded. Only the direction is kept;
 * n values cost n bytes. 256 normally spread ones turn by 0.4° (0.6° at worst); a vector with one dominant value turns by at most
 * asin(√n · ½ / 127): 3.6° at 256 values, 7.2° at 1,024. Undefined for a zero vector.
 */
export function quantise(vector: Float32Array): Int8Array | undefined {
  let greatest = 0;
  for (let i = 0; i < vector.length; i++) {
    const magnitude = Math.abs(vector[i] as number);
    if (magnitude > greatest) greatest = magnitude;
  }
  if (greatest === 0) return undefined;
  const bytes = new Int8Array(vector.length);
  const scale = LEVELS / greatest;
  for (let i = 0; i < vector.length; i++) bytes[i] = Math.round((vector[i] as number) * scale);
  return bytes;
}

/** The unit vector of a quantised direction. */
export function dequantise(bytes: Int8Array): Float32Array {
  return toUnit(new Float32Array(bytes));
}
