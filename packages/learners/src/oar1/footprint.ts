import { FOLD_SIGNS, fold, toUnit } from "@qavr/core/learner";

/** Dimensions of a footprint: enough to distinguish kinds of request. */
export const FOOTPRINT_DIMS = 64;

/** The part of a footprint that one request's direction adds: folded, of unit length. */
export function footprintOf(z: Float32Array): Float32Array {
  return toUnit(fold(z, FOOTPRINT_DIMS, FOLD_SIGNS));
}
