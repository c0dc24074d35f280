import {
  contribute,
  DecodedTable,
  type Defined,
  expectedLogit,
  FINITE,
  type FieldRule,
  type Learner,
  type Lesson,
  NOT_NEGATIVE,
  observeSpread,
  RATE,
  resolveOptions,
  scoreOneByOne,
  sigmoid,
  spreadScale,
  withdraw,
} from "@qavr/core/learner";
import { type BaselineShared, baselineCodec, countRun, moveBaselines, withdrawSteps } from "./request-baseline.js";
import { scalarCodec } from "./scalar-codec.js";
import { countable } from "./weighted-sum.js";

/** Settings of the `jointLogistic` learner. */
export interface JointLogisticOptions {
  /** Weight of a memory's log-odds against similarity, at a spread of 0.1. At least 0. @default 0.4 */
  readonly weight?: number | undefined;
  /** Step of a memory's log-odds, divided by the root of its evidence, in (0, 1]. @default 0.5 */
  readonly rate?: number | undefined;
}

const JOINT_LOGISTIC_DEFAULTS: Defined<JointLogisticOptions> = { weight: 0.4, rate: 0.5 };

/** Share of its log-odds that a memory loses each time it is shown. Range 0..0.01. */
const FADE = 0.002;

const JOINT_LOGISTIC_RULES: Readonly<Record<keyof JointLogisticOptions, FieldRule>> = {
  weight: NOT_NEGATIVE,
  rate: RATE,
};

/** One memory. */
export interface JointLogisticMemory {
  /** Effect of showing it on the log-odds of success. */
  logit: number;
  /** Σ weights of the outcomes. */
  evidence: number;
}

const codec = scalarCodec<JointLogisticMemory>({
  logit: { empty: 0, rule: FINITE },
  evidence: { empty: 0, rule: NOT_NEGATIVE },
});

/**
 * **Joint logistic regression**, `joint-logistic@1`: one logistic model of success, with a number for each memory.
 *
 *     p     = sigmoid(bias + baseline · q + Σ m)     over the memories shown
 *     g     = r − p
 *     m    ← 0.998 m + 0.5 / √n · g                  n: the memory's evidence
 *     score = similarity + 0.4 σ' · m                σ': running spread of the collection's similarities over 0.1
 *
 * The memories of a run are fitted jointly, so the effect of one is not credited to the others. One step of gradient ascent per run, no replay.
 *
 * - **State**: two numbers per memory; one vector (1 KiB at 256 dims) and four numbers per collection.
 * - **Not order-independent**: a gradient step depends on all before it. A correction takes the steps of the last outcome back exactly;
 *   for older ones later fading (0.2 % per showing) is not undone.
 * - **Wrong choice** when memories help some requests and harm others: one number averages the two. Steps shrink with evidence, so
 *   changes are learned slowly.
 * - An outcome's weight multiplies its steps. Votes, relevance and use are ignored.
 * - **Source**: online logistic regression (stochastic gradient ascent with steps of 1/√n).
 *
 * @throws INVALID_ARGUMENT
 */
export function jointLogistic(
  options: JointLogisticOptions = {},
): Learner<BaselineShared, JointLogisticMemory, DecodedTable<JointLogisticMemory>> {
  const settings = resolveOptions("jointLogistic", options, JOINT_LOGISTIC_DEFAULTS, JOINT_LOGISTIC_RULES);
  const { weight, rate } = settings;

  return {
    id: "joint-logistic@1",
    shared: baselineCodec,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score(request) {
      const scale = weight * spreadScale(request.shared, request.similarities);
      return scoreOneByOne(request, {
        utility: (memory) => memory?.logit ?? 0,
        evidence: ({ evidence }) => evidence,
        score: (similarity, logit) => similarity + scale * logit,
      });
    },

    observe: observeSpread,

    learn(lesson) {
      const { exposures, reward, weight: trust, first } = lesson;
      countRun(lesson);
      if (first) fadeMemories(lesson);
      if (reward === null) return contribute(lesson, {});
      const logit = exposures.reduce((sum, { shared, vector, share, shown }) => {
        const shownLogit = shown.reduce(
          (part, { memory, weight: credit }) => (credit > 0 ? part + memory.logit : part),
          0,
        );
        return sum + share * (expectedLogit(shared, vector) + shownLogit);
      }, 0);
      const surprise = reward - sigmoid(logit);
      const steps = moveBaselines(lesson, surprise * trust);
      return contribute(lesson, {
        collection: (_, place) => steps[place] as readonly number[],
        memory({ memory }) {
          const evidence = countable(trust);
          memory.evidence += evidence;
          const step = countable((rate / Math.sqrt(Math.max(1, memory.evidence))) * surprise * trust);
          memory.logit += step;
          return [evidence, step];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: withdrawSteps,
        memory({ memory }, [evidence = 0, step = 0]) {
          memory.evidence = Math.max(0, memory.evidence - evidence);
          // Without evidence the log-odds are exactly 0.
          memory.logit = memory.evidence === 0 ? 0 : memory.logit - step;
        },
      });
    },

    discount(memory, keep) {
      memory.evidence = countable(memory.evidence * keep);
      memory.logit = countable(memory.logit * keep);
    },

    describe: ({ logit, evidence }) => ({ utility: logit, evidence }),
    summarize: ({ lessons, spread, baseline }) => ({ lessons, spread, dims: baseline.length }),
  };
}

/** Fades each memory shown once per run: `m ← 0.998 m`, rounded to {@link countable} so that steps can be taken back to the bit. */
function fadeMemories({ exposures }: Lesson<BaselineShared, JointLogisticMemory>): void {
  for (const { shown } of exposures) {
    for (const { memory, weight } of shown) if (weight > 0) memory.logit = countable((1 - FADE) * memory.logit);
  }
}
