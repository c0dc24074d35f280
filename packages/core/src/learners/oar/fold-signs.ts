import { MAX_DIMS } from "../../embedding/request-vector.js";

/** ±1 for each value of a request vector, by which `oar` folds it: part of the learner's version, other signs are another learner. */
export const FOLD_SIGNS: Int8Array = Int8Array.from({ length: MAX_DIMS }, (_, i) => {
  const mixed = Math.imul((i + 1) ^ 0x9e37, 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) & 0x1000 ? 1 : -1;
});
