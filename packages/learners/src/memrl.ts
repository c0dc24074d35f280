import {
  between,
  blend,
  clamp,
  contribute,
  DecodedTable,
  type Defined,
  FINITE,
  type FieldRule,
  type Learner,
  mean,
  noState,
  RATE,
  resolveOptions,
  scoreOneByOne,
  spread,
  UNIT,
  whole,
  withdraw,
} from "@qavr/core/learner";
import { type MovingAverage, movingAverages } from "./moving-average.js";
import { scalarCodec } from "./scalar-codec.js";

/** Settings of the `memrl` learner; defaults are the paper's. */
export interface MemrlOptions {
  /** Step of the value update, in (0, 1]. @default 0.3 */
  readonly learningRate?: number | undefined;
  /** Value of a memory without outcomes, in [−1, 1]. @default 0 */
  readonly initialQ?: number | undefined;
  /** Reward of a run that succeeded, in [−1, 1]; a partial reward lies between the two. @default 1 */
  readonly success?: number | undefined;
  /** Reward of a run that failed, in [−1, 1]. @default −1 (0 in one of its benchmarks, with initialQ 0.5) */
  readonly failure?: number | undefined;
  /** Share of value in the score, in [0, 1]. @default 0.5 */
  readonly valueWeight?: number | undefined;
  /** Candidates of the first phase per item shown. Whole number ≥ 1. @default 2 (5 of 3 and 10 of 5 there) */
  readonly candidates?: number | undefined;
  /** Least similarity in the first phase, in the host's unit. @default none (tuned per benchmark there) */
  readonly threshold?: number | undefined;
}

/** No threshold. */
const ANY_SIMILARITY = Number.NEGATIVE_INFINITY;

const MEMRL_DEFAULTS: Defined<MemrlOptions> = {
  learningRate: 0.3,
  initialQ: 0,
  success: 1,
  failure: -1,
  valueWeight: 0.5,
  candidates: 2,
  threshold: ANY_SIMILARITY,
};

/** Bound of a standardised value, in standard deviations. Range 1..5. */
const CLIP = 3;

const VALUE_RULE: FieldRule = between(-1, 1);

const MEMRL_RULES: Readonly<Record<keyof MemrlOptions, FieldRule>> = {
  learningRate: RATE,
  initialQ: VALUE_RULE,
  success: VALUE_RULE,
  failure: VALUE_RULE,
  valueWeight: UNIT,
  candidates: whole(1),
  threshold: [(value) => value === ANY_SIMILARITY || FINITE[0](value), FINITE[1]],
};

/** One memory: its value Q in [−1, 1]. */
type MemrlMemory = MovingAverage;

/**
 * **MemRL**, `memrl@1`: two-phase retrieval by similarity, then by learned value.
 *
 *     phase A   the first 2·topK candidates, above a threshold if one is set
 *     phase B   score = 0.5 · ẑ(similarity) + 0.5 · ẑ(Q)         ẑ: standardised over phase A, that of Q within ±3
 *     Q ← Q + 0.3 · (r − Q)                                       r = 1 success, −1 failure; Q starts at 0
 *
 * Every memory shown gets the same reward. An outcome's weight multiplies the step.
 *
 * - **State**: three numbers per memory, nothing per collection.
 * - **Not order-independent**: a moving average weighs recent outcomes more. A correction takes back the remainder of the old verdict
 *   after later outcomes of the same weight; that is exact for the last one only.
 * - **Wrong choice** when memories help some requests and harm others (one number cannot express that), when similarity is
 *   reliable (standardising makes two nearly equal values as distant as two opposite ones), and with few candidates.
 * - The authors' implementation draws a random order in one of a hundred requests on one benchmark. It is left out here, so that
 *   equal states give equal rankings. Votes, relevance and use are ignored.
 * - **Source**: arXiv 2601.03192 (formulas, λ, α, k1 and k2); MemTensor/MemRL (the bound of ±3).
 *
 * @throws INVALID_ARGUMENT
 */
export function memrl(options: MemrlOptions = {}): Learner<null, MemrlMemory, DecodedTable<MemrlMemory>> {
  const settings = resolveOptions("memrl", options, MEMRL_DEFAULTS, MEMRL_RULES);
  const { learningRate, initialQ, success, failure, valueWeight, candidates, threshold } = settings;
  const averages = movingAverages(initialQ, -1, 1);
  const codec = scalarCodec<MemrlMemory>(averages.fields);

  return {
    id: "memrl@1",
    fetchK: (topK) => candidates * topK,
    shared: noState,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score(request) {
      const { table, rows, similarities, topK } = request;
      const unlike = similarities.findIndex((similarity) => similarity <= threshold);
      const movable = Math.min(candidates * topK, unlike === -1 ? similarities.length : unlike);
      const qOf = (memory: MemrlMemory | undefined): number => memory?.value ?? initialQ;
      const near = standardised(similarities.subarray(0, movable));
      const good = standardised(Float64Array.from(rows.subarray(0, movable), (row) => qOf(table.at(row))));
      return scoreOneByOne(
        request,
        {
          utility: qOf,
          evidence: ({ evidence }) => evidence,
          score: (_, __, i) => blend(near[i] as number, clamp(good[i] as number, -CLIP, CLIP), valueWeight),
        },
        movable,
      );
    },

    observe() {},

    learn(lesson) {
      const { reward, weight } = lesson;
      if (reward === null) return contribute(lesson, {});
      const target = failure + reward * (success - failure);
      return contribute(lesson, { memory: ({ memory }) => averages.move(memory, target, learningRate, weight) });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, { memory: ({ memory }, added) => averages.takeBack(memory, added) });
    },

    discount: averages.keep,
    describe: ({ value, evidence }) => ({ utility: value, evidence }),
    summarize: () => ({}),
  };
}

/** `(x − mean) / spread` over a list; all 0 where nothing spreads. */
export function standardised(values: Float64Array): Float64Array {
  const deviation = spread(values);
  if (deviation === 0) return new Float64Array(values.length);
  const centre = mean(values);
  return values.map((value) => (value - centre) / deviation);
}
