import { fold } from "../../embedding/fold.js";
import { MAX_DIMS } from "../../embedding/request-vector.js";
import { toUnit } from "../../scoring/vectors.js";

/** ±1 for each value of a request vector, by which `oar` folds it. Part of the learner's version. */
export const FOLD_SIGNS: Int8Array = Int8Array.from({ length: MAX_DIMS }, (_, i) => {
  const mixed = Math.imul((i + 1) ^ 0x9e37, 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) & 0x1000 ? 1 : -1;
});

/** Dimensions of a footprint: enough to distinguish kinds of request. */
export const FOOTPRINT_DIMS = 64;

/** The part of a footprint that one request's direction adds: folded, of unit length. */
export function footprintOf(z: Float32Array): Float32Array {
  return toUnit(fold(z, FOOTPRINT_DIMS, FOLD_SIGNS));
}
