import { fold } from "./fold.js";
import { mix } from "./mix.js";

/**
 * Dimensions above which a host's request vector is projected. 256 lose too much of 1,536 values:
 * docs/decisions/2026-11-22-dims-of-a-request.md.
 */
export const PROJECTED_DIMS = 512;

/** ±1 for each place of the longest vector projected so far, drawn from the place alone. */
let signs: Int8Array = new Int8Array(0);

/**
 * Fixed signed sparse random projection to {@link PROJECTED_DIMS} dimensions (a balanced count sketch): input i adds +x_i or −x_i to
 * output `i mod 512`. Inner products of unit vectors whose values are of one size keep their value with a standard error of at most 1/16,
 * less where the vectors are little longer than 512; the same input gives the same output in every process. Vectors of at most 512
 * values are copied.
 */
export function project(vector: ArrayLike<number>): Float32Array {
  if (signs.length < vector.length) signs = signsOf(vector.length);
  return fold(vector, PROJECTED_DIMS, signs);
}

function signsOf(length: number): Int8Array {
  return Int8Array.from({ length }, (_, i) => (mix(i + 1) & 1 ? -1 : 1));
}
