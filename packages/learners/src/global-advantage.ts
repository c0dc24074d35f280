import {
  ABOVE_0,
  contribute,
  DecodedTable,
  type Defined,
  type FieldRule,
  type Learner,
  NOT_NEGATIVE,
  observeSpread,
  resolveOptions,
  scoreOneByOne,
  spreadScale,
  withdraw,
} from "@qavr/core/learner";
import { type BaselineShared, baselineCodec, learnSurprise, withdrawSteps } from "./request-baseline.js";
import { advantages, shrunkMean, type WeightedSum } from "./weighted-sum.js";

/** Settings of the `globalAdvantage` learner. */
export interface GlobalAdvantageOptions {
  /** Weight of an advantage against similarity, at a spread of 0.1. At least 0. @default 1.5 */
  readonly weight?: number | undefined;
  /** Outcomes at which an advantage counts half, above 0. @default 5 */
  readonly shrinkage?: number | undefined;
}

const GLOBAL_ADVANTAGE_DEFAULTS: Defined<GlobalAdvantageOptions> = { weight: 1.5, shrinkage: 5 };

const GLOBAL_ADVANTAGE_RULES: Readonly<Record<keyof GlobalAdvantageOptions, FieldRule>> = {
  weight: NOT_NEGATIVE,
  shrinkage: ABOVE_0,
};

/**
 * **Global advantage**, `global-advantage@1`: how much better than expected runs went when the memory was shown.
 *
 *     b     = sigmoid(bias + baseline · q)           expected success of such a request, learned online
 *     u     = Σ w·(r − b) / (Σ w + 5)
 *     score = similarity + 1.5 σ' · u                σ': running spread of the collection's similarities over 0.1
 *
 * The beta posterior corrected for the difficulty of the request: one of the best scores of one number per memory, and the fallback
 * of `cav` without a vector.
 *
 * - **State**: two numbers per memory; one vector (1 KiB at 256 dims) and four numbers per collection.
 * - **Not order-independent**: expectations depend on earlier runs. A corrected outcome leaves no trace in a memory, to the bit, and
 *   none in the baseline's vector up to float32 rounding.
 * - **Wrong choice** when memories help some requests and harm others: one number averages the two.
 * - Without a request vector the bias alone is the expectation. Votes, relevance and use are ignored.
 * - **Source**: reinforcement with a baseline (Williams 1992), with shrinkage.
 *
 * @throws INVALID_ARGUMENT
 */
export function globalAdvantage(
  options: GlobalAdvantageOptions = {},
): Learner<BaselineShared, WeightedSum, DecodedTable<WeightedSum>> {
  const settings = resolveOptions("globalAdvantage", options, GLOBAL_ADVANTAGE_DEFAULTS, GLOBAL_ADVANTAGE_RULES);
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
