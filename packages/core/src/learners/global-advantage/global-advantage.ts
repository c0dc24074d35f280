import { type BaselineShared, baselineCodec } from "../baseline-state.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings } from "../legality.js";
import { scoreOneByOne } from "../one-by-one.js";
import { observeSpread, spreadScale } from "../running-spread.js";
import { learnSurprise, withdrawSteps } from "../surprise.js";
import { advantages, shrunkMean, type WeightedSum } from "../weighted-sum.js";
import { GLOBAL_ADVANTAGE_DEFAULTS, GLOBAL_ADVANTAGE_RULES, type GlobalAdvantageOptions } from "./parameters.js";

/**
 * **Global advantage**, `global-advantage@1`: how much better than expected runs went when the memory was shown.
 *
 *     b     = sigmoid(bias + baseline · q)           expected success of such a request, learned online
 *     u     = Σ w·(r − b) / (Σ w + 5)
 *     score = similarity + 1.5 σ' · u                σ': running spread of the collection's similarities over 0.1
 *
 * The beta posterior with the difficulty of the request taken out: the best of the one-number scores, and what `cav` falls back
 * to where it has no vector.
 *
 * - **State**: two numbers per memory; one vector (1 KiB at 256 dims) and four numbers per collection.
 * - **Not order-independent**: what was expected depends on what came before. A corrected outcome leaves a memory as if it had
 *   never been, to the bit; the baseline's vector up to float32 rounding.
 * - **Wrong choice** when memories help some requests and harm others: one number averages the two.
 * - Without a request vector the bias alone is the expectation. Votes, relevance and use are ignored.
 * - **Source**: reinforcement with a baseline (Williams 1992), with shrinkage.
 *
 * @throws INVALID_ARGUMENT
 */
export function globalAdvantage(
  options: GlobalAdvantageOptions = {},
): Learner<BaselineShared, WeightedSum, DecodedTable<WeightedSum>> {
  const settings = { ...GLOBAL_ADVANTAGE_DEFAULTS, ...options };
  checkSettings("globalAdvantage", settings, GLOBAL_ADVANTAGE_RULES);
  const { weight, shrinkage } = settings;
  const utility = (memory: WeightedSum | undefined): number => (memory ? shrunkMean(memory, 0, shrinkage) : 0);

  return {
    id: "global-advantage@1",
    shared: baselineCodec,
    memory: advantages.codec,
    createTable: () => new DecodedTable(advantages.codec),

    score(request) {
      const scale = weight * spreadScale(request.shared, request.similarities);
      return scoreOneByOne(request, {
        utility,
        evidence: ({ evidence }) => evidence,
        score: (similarity, expected) => similarity + scale * expected,
      });
    },

    observe: observeSpread,

    learn(lesson) {
      const learned = learnSurprise(lesson);
      if (!learned) return contribute(lesson, {});
      return contribute(lesson, {
        collection: (_, place) => learned.steps[place] as readonly number[],
        memory: ({ memory }) => advantages.add(memory, learned.surprise, lesson.weight),
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: withdrawSteps,
        memory: ({ memory }, added) => advantages.remove(memory, added),
      });
    },

    discount: advantages.keep,
    describe: (memory) => ({ utility: utility(memory), evidence: memory.evidence }),
    summarize: ({ lessons, spread, baseline }) => ({ lessons, spread, dims: baseline.length }),
  };
}
