import { fold } from "../../embedding/fold.js";
import { toUnit } from "../../scoring/vectors.js";
import { FOLD_SIGNS } from "./fold-signs.js";

/** A footprint needs to tell kinds of request apart, not requests. */
export const FOOTPRINT_DIMS = 64;

/** What a request's direction leaves in the footprints of the memories that it shows. */
export function footprintOf(z: Float32Array): Float32Array {
  return toUnit(fold(z, FOOTPRINT_DIMS, FOLD_SIGNS));
}
