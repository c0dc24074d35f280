import {
  ABOVE_0,
  contribute,
  type Defined,
  type FieldRule,
  type Learner,
  NOT_NEGATIVE,
  observeSpread,
  oneOf,
  resolveOptions,
  withdraw,
} from "@qavr/core/learner";
import {
  AdvantageTable,
  type AdvantageVector,
  addAlong,
  advantageVectorCodec,
  keepAlong,
  scoreAlong,
} from "./advantage-vector.js";
import { type BaselineShared, baselineCodec, countRun, learnSurprise, withdrawSteps } from "./request-baseline.js";
import { countable } from "./weighted-sum.js";

/** Settings of the `rocchio` learner. */
export interface RocchioOptions {
  /** Step along a request: the reward minus the expected success, or minus a half. @default "advantage" */
  readonly feedback?: "advantage" | "reward" | undefined;
  /** Weight of a utility against similarity, at a spread of 0.1. At least 0. @default 6 */
  readonly weight?: number | undefined;
  /** Outcomes at which a utility counts half, above 0. @default 3 */
  readonly shrinkage?: number | undefined;
}

const ROCCHIO_DEFAULTS: Defined<RocchioOptions> = { feedback: "advantage", weight: 6, shrinkage: 3 };

/** Neutral reward when no expectation is subtracted. */
const NEUTRAL_REWARD = 0.5;

const ROCCHIO_RULES: Readonly<Record<keyof RocchioOptions, FieldRule>> = {
  feedback: oneOf("advantage", "reward"),
  weight: NOT_NEGATIVE,
  shrinkage: ABOVE_0,
};

/**
 * **Rocchio feedback**, `rocchio@1`: a memory moves towards the requests it helped and away from those it hurt.
 *
 *     v    ← v + w·g · q                             g = r − b (advantage) or r − 0.5 (reward)
 *     u     = v · q / (n + 3)                        n = Σ w
 *     score = similarity + 6 σ' · u                  σ': running spread of the collection's similarities over 0.1
 *
 * The classic relevance feedback, applied to the memory and not to the query. `b` is the expected success of such a request,
 * learned online. `cav` is this with centred requests, credit by relevance, joint surprises, a bound and a gate.
 *
 * - **State**: a vector (1 KiB at 256 dims) and two numbers per memory; a vector and four numbers per collection.
 * - **Not order-independent**: expectations depend on earlier runs, and vectors are sums in float32. A correction takes the recorded steps
 *   back up to float32 rounding. With `feedback: "reward"` only that rounding depends on the order.
 * - **Wrong choice** without request vectors (it then learns, but ranks by similarity), and for new kinds of
 *   request: the common part of all requests affects them, too.
 * - The shift has no bound. Votes, relevance and use are ignored.
 * - **Source**: Rocchio 1971, applied to documents' vectors.
 *
 * @throws INVALID_ARGUMENT
 */
export function rocchio(options: RocchioOptions = {}): Learner<BaselineShared, AdvantageVector, AdvantageTable> {
  const settings = resolveOptions("rocchio", options, ROCCHIO_DEFAULTS, ROCCHIO_RULES);
  const { feedback, weight, shrinkage } = settings;

  return {
    id: feedback === "advantage" ? "rocchio@1" : "rocchio@1/reward",
    shared: baselineCodec,
    memory: advantageVectorCodec,
    createTable: () => new AdvantageTable(),
    score: (request) =>
      scoreAlong(request, request.vector, weight, (product, evidence) => product / (evidence + shrinkage)),
    observe: observeSpread,

    learn(lesson) {
      const { reward, weight: trust } = lesson;
      const learned = feedback === "advantage" ? learnSurprise(lesson) : countRun(lesson);
      if (reward === null) return contribute(lesson, {});
      const surprise = learned ? learned.surprise : reward - NEUTRAL_REWARD;
      return contribute(lesson, {
        collection: (_, place) => learned?.steps[place] ?? [],
        memory({ memory }, { vector }) {
          const evidence = countable(trust);
          const advantage = countable(trust * surprise);
          addAlong(memory, evidence, advantage, vector);
          return [evidence, advantage];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: withdrawSteps,
        memory: ({ memory }, [evidence = 0, advantage = 0], { vector }) =>
          addAlong(memory, -evidence, -advantage, vector),
      });
    },

    discount: keepAlong,
    describe: ({ advantage, evidence }) => ({ utility: advantage / (evidence + shrinkage), evidence }),
    summarize: ({ lessons, spread, baseline }) => ({ lessons, spread, dims: baseline.length }),
  };
}
