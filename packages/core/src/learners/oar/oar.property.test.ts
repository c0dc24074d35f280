import { testVectorLearner } from "../../../test/support/vector-learner-suite.js";
import type { VectorLearner } from "../../../test/support/vector-lessons.js";
import { oar } from "./oar.js";

for (const setting of ["balanced", "guard"] as const) {
  const learner = oar({ setting }) as unknown as VectorLearner;
  testVectorLearner(learner, { gateDecay: 1, largestShift: 14, affine: true });
}
