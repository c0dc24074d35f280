import { testVectorLearner } from "../../core/test/support/vector-learner-suite.js";
import type { VectorLearner } from "../../core/test/support/vector-lessons.js";
import { cav, jar, oar1 } from "../src/index.js";

testVectorLearner(cav() as VectorLearner, { gateDecay: 0.998, largestShift: 10, affine: true });
testVectorLearner(jar() as VectorLearner, { gateDecay: 0.9995, largestShift: 11, affine: true });
testVectorLearner(jar({ setting: "guard" }) as VectorLearner, { gateDecay: 0.9995, largestShift: 11, affine: false });
testVectorLearner(jar({ setting: "strict" }) as VectorLearner, { gateDecay: 0.9995, largestShift: 15, affine: false });
testVectorLearner(oar1() as unknown as VectorLearner, { gateDecay: 1, largestShift: 14, affine: true });
testVectorLearner(oar1({ setting: "guard" }) as unknown as VectorLearner, {
  gateDecay: 1,
  largestShift: 14,
  affine: true,
});
