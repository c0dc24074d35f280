import { type Learner, oar, qValue, similarity } from "../src/index.js";
import { testReplay } from "./support/learner-properties.js";
import { readingOnly, sequential, testLearner } from "./support/learner-suite.js";

testLearner("oar", () => oar(), sequential);
testLearner("qValue", () => qValue({ warmThreshold: 2 }), sequential);
testLearner("similarity", () => similarity(), readingOnly);

/** Its states are not the ones that were stored, but their roundings. */
function rounding(): Learner {
  const { shared, memory, ...learner } = oar() as Learner<{ bias: number }, { reputation: number }>;
  const rounded: typeof learner & Pick<Learner<{ bias: number }, { reputation: number }>, "shared" | "memory"> = {
    ...learner,
    id: "rounding@1",
    shared: { ...shared, encode: (state, room) => shared.encode({ ...state, bias: Math.fround(state.bias) }, room) },
    memory: {
      ...memory,
      encode: (state, room) => memory.encode({ ...state, reputation: Math.fround(state.reputation) }, room),
    },
  };
  return rounded as Learner;
}

testReplay("a learner whose codecs round", rounding, 20);
