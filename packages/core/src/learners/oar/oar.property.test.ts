import { testVectorLearner } from "../../../test/support/vector-learner-suite.js";
import type { VectorLearner } from "../../../test/support/vector-lessons.js";
import { oar } from "./oar.js";

testVectorLearner(oar() as unknown as VectorLearner, {
  gateDecay: 1,
  largestShift: 10,
  fallsFreely: true,
  affine: true,
});
