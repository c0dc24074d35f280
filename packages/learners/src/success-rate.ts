import {
  blend,
  contribute,
  DecodedTable,
  type Defined,
  type FieldRule,
  type Learner,
  noState,
  rescaledNote,
  resolveOptions,
  scoreOneByOne,
  UNIT,
  unitSimilarities,
  withdraw,
} from "@qavr/core/learner";
import { successes, type WeightedSum } from "./weighted-sum.js";

/** Settings of the `successRate` learner. */
export interface SuccessRateOptions {
  /** Share of the rate in the score, in [0, 1]; the rest is similarity. @default 0.3, as QAVR weighs its q */
  readonly rateWeight?: number | undefined;
  /** Rate of a memory without outcomes, in [0, 1]. @default 0.5 */
  readonly initialRate?: number | undefined;
}

const SUCCESS_RATE_DEFAULTS: Defined<SuccessRateOptions> = { rateWeight: 0.3, initialRate: 0.5 };

const SUCCESS_RATE_RULES: Readonly<Record<keyof SuccessRateOptions, FieldRule>> = {
  rateWeight: UNIT,
  initialRate: UNIT,
};

/**
 * **Success rate**, `success-rate@1`: share of successful runs among those that showed the memory.
 *
 *     rate  = Σ w·r / Σ w                            0.5 before the first outcome
 *     score = 0.7 · similarity + 0.3 · rate
 *
 * The counters in the front matter of procedural memories (`confidence = successes / (successes + failures)`), blended with
 * similarity as QAVR blends its q. `r` is the reward, `w` the outcome's weight.
 *
 * - **State**: two numbers per memory, nothing per collection.
 * - **Order-independent**: the sums do not depend on the order of outcomes, and a corrected outcome leaves no trace, to the bit.
 * - **Wrong choice** when memories have few outcomes: one run makes the rate 0 or 1. Also when requests differ in difficulty: a
 *   memory shown for hard ones gets a low rate.
 * - Votes, relevance and use are ignored. Similarities outside [0, 1] are rescaled by min–max over the candidates.
 * - **Source**: AnimaWorks, procedural memory (`report_procedure_outcome`); arXiv 2604.12007 (Memory Worth) for the two counters.
 *
 * @throws INVALID_ARGUMENT
 */
export function successRate(options: SuccessRateOptions = {}): Learner<null, WeightedSum, DecodedTable<WeightedSum>> {
  const settings = resolveOptions("successRate", options, SUCCESS_RATE_DEFAULTS, SUCCESS_RATE_RULES);
  const { rateWeight, initialRate } = settings;
  const rate = (memory: WeightedSum | undefined): number =>
    memory && memory.evidence > 0 ? memory.sum / memory.evidence : initialRate;

  return {
    id: "success-rate@1",
    shared: noState,
    memory: successes.codec,
    createTable: () => new DecodedTable(successes.codec),

    score(request) {
      const { values, rescaled } = unitSimilarities(request.similarities);
      const scores = scoreOneByOne(request, {
        utility: rate,
        evidence: ({ evidence }) => evidence,
        score: (_, utility, i) => blend(values[i] as number, utility, rateWeight),
      });
      return rescaled && !scores.unchanged ? { ...scores, note: rescaledNote(0) } : scores;
    },

    observe() {},

    learn(lesson) {
      const { reward, weight } = lesson;
      if (reward === null) return contribute(lesson, {});
      return contribute(lesson, { memory: ({ memory }) => successes.add(memory, reward, weight) });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, { memory: ({ memory }, added) => successes.remove(memory, added) });
    },

    discount: successes.keep,
    describe: (memory) => ({ utility: rate(memory), evidence: memory.evidence }),
    summarize: () => ({}),
  };
}
