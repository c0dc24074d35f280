import type { Learner } from "../learner.js";
import { observeSpread } from "../running-spread.js";
import { contrast, gate } from "./formulas.js";
import { learn, unlearn } from "./learn.js";
import { OAR, type OarNumbers } from "./parameters.js";
import { score } from "./score.js";
import { memoryCodec, type OarMemory, type OarShared, sharedCodec } from "./state.js";
import { OarTable } from "./table.js";

export function oar(numbers: Partial<OarNumbers> = {}): Learner<OarShared, OarMemory, OarTable> {
  const n = { ...OAR, ...numbers };
  const shared = sharedCodec(n);
  const first = shared.empty();
  return {
    id: "oar@1",
    shared,
    memory: memoryCodec,
    createTable: () => new OarTable(),
    score: (request) => score(request, first, n),
    observe: observeSpread,
    learn: (lesson) => learn(lesson, n),
    unlearn: (lesson, contribution) => unlearn(lesson, contribution, n),
    discount(memory, keep) {
      memory.evidence *= keep;
      memory.advantage *= keep;
      memory.information *= keep;
      memory.votes *= keep;
      memory.vector = memory.vector.map((value) => value * keep);
      memory.footprint = memory.footprint.map((value) => value * keep);
    },
    describe: ({ advantage, evidence }) => ({ utility: advantage / (evidence + 5), evidence }),
    summarize: (state) => ({
      lessons: state.lessons,
      gate: gate(state, n) * contrast(state, n),
      spread: state.spread,
      dims: state.mean.length,
    }),
  };
}
