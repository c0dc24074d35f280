import { oar, qValue, similarity } from "../src/index.js";
import { readingOnly, sequential, testLearner } from "./support/learner-suite.js";

testLearner("oar", () => oar(), sequential);
testLearner("qValue", () => qValue({ warmThreshold: 2 }), sequential);
testLearner("similarity", () => similarity(), readingOnly);
