import { addScaled } from "../../scoring/vectors.js";
import { type BaselineShared, baselineCodec } from "../baseline-state.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner, StateCodec } from "../learner.js";
import { checkSettings } from "../legality.js";
import { scoreOneByOne } from "../one-by-one.js";
import { observeSpread, spreadScale } from "../running-spread.js";
import { learnSurprise, withdrawSteps } from "../surprise.js";
import { advantages } from "../weighted-sum.js";
import { globalUtility, localUtility, nearest, unitPrototypes } from "./formulas.js";
import { KERNEL_PROTOTYPES_DEFAULTS, KERNEL_PROTOTYPES_RULES, type KernelPrototypesOptions } from "./parameters.js";
import { type KernelMemory, keepPrototypes, kernelCodec, type Prototype } from "./state.js";

/** Of a prototype's sums only what scoring needs: unit vectors, computed once when a state is read. */
const unitCodec: StateCodec<KernelMemory> = {
  ...kernelCodec,
  decode: (bytes) => unitPrototypes(kernelCodec.decode(bytes)),
};

/**
 * **Kernel prototypes**, `kernel-prototypes@1`: per memory up to eight kinds of request it was shown to, each with the mean advantage
 * of its runs.
 *
 *     k_j   = max(0, q · p_j)³                       p_j: unit sum of the requests that joined prototype j
 *     u     = (Σ k_j A_j + g) / (Σ k_j N_j + 1)      A_j = Σ w·(r − b), N_j = Σ w;  g = A / (N + 4) over all runs
 *     score = similarity + 1.5 σ' · u                σ': running spread of the collection's similarities over 0.1
 *
 * A request joins its nearest prototype from a cosine of 0.6 on, or when all eight are taken; otherwise it founds one. `b` is the
 * expected success of such a request, learned online.
 *
 * - **State**: up to 8 KiB per memory at 256 dims, and eight times the work of one vector to score; one vector per collection.
 * - **Not order-independent**: which requests share a prototype depends on which came first. A corrected outcome takes its part
 *   back from the prototype that it joined: sums to the bit, requests up to float32 rounding; what joined because of it stays.
 * - **Wrong choice** where state or time is scarce, or where requests are so diverse that nothing joins: eight prototypes then
 *   mix what does not belong together.
 * - Without a request vector it is `globalAdvantage`. Votes, relevance and use are ignored.
 * - **Source**: Nadaraya 1964 and Watson 1964 for the kernel mean; prototypes as in learning vector quantisation.
 *
 * @throws INVALID_ARGUMENT
 */
export function kernelPrototypes(
  options: KernelPrototypesOptions = {},
): Learner<BaselineShared, KernelMemory, DecodedTable<KernelMemory>> {
  const settings = { ...KERNEL_PROTOTYPES_DEFAULTS, ...options };
  checkSettings("kernelPrototypes", settings, KERNEL_PROTOTYPES_RULES);
  const { prototypes: most, mergeFrom, weight } = settings;

  /** The prototype that a request joins. */
  function prototypeFor(memory: KernelMemory, q: Float32Array): Prototype {
    const known = nearest(memory, q);
    if (known && (known.cosine >= mergeFrom || memory.prototypes.length >= most)) return known.prototype;
    const taken = new Set(memory.prototypes.map(({ key }) => key));
    let key = 0;
    while (taken.has(key)) key += 1;
    const founded: Prototype = { key, sum: 0, evidence: 0, requests: new Float32Array(q.length) };
    memory.prototypes.push(founded);
    return founded;
  }

  return {
    id: "kernel-prototypes@1",
    shared: baselineCodec,
    memory: kernelCodec,
    createTable: () => new DecodedTable(unitCodec),

    score(request) {
      const { shared, similarities, vector } = request;
      const scale = weight * spreadScale(shared, similarities);
      return scoreOneByOne(request, {
        utility: (memory) => (memory ? localUtility(memory, vector) : 0),
        evidence: ({ evidence }) => evidence,
        score: (similarity, utility) => similarity + scale * utility,
      });
    },

    observe: observeSpread,

    learn(lesson) {
      const learned = learnSurprise(lesson);
      if (!learned) return contribute(lesson, {});
      return contribute(lesson, {
        collection: (_, place) => learned.steps[place] as readonly number[],
        memory({ memory }, { vector }) {
          const added = advantages.add(memory, learned.surprise, lesson.weight);
          // Imported prototypes may lie in a space of other dims.
          const length = memory.prototypes[0]?.requests.length ?? vector?.length;
          if (!vector || vector.length !== length) return added;
          const prototype = prototypeFor(memory, vector);
          advantages.add(prototype, learned.surprise, lesson.weight);
          addScaled(prototype.requests, lesson.weight, vector);
          return [...added, lesson.weight, prototype.key];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: withdrawSteps,
        memory({ memory }, added, { vector }) {
          advantages.remove(memory, added);
          const [, , joined = 0, key] = added;
          const prototype = memory.prototypes.find((candidate) => candidate.key === key);
          if (prototype && vector) {
            advantages.remove(prototype, added);
            addScaled(prototype.requests, -joined, vector);
            memory.prototypes = memory.prototypes.filter(({ evidence }) => evidence > 0);
          }
          if (memory.evidence === 0) memory.prototypes = [];
        },
      });
    },

    discount: keepPrototypes,
    describe: (memory) => ({ utility: globalUtility(memory), evidence: memory.evidence }),
    summarize: ({ lessons, spread, baseline }) => ({ lessons, spread, dims: baseline.length }),
  };
}
