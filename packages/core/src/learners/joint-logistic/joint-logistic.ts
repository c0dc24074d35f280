import { sigmoid } from "../../scoring/bounds.js";
import { countable } from "../../scoring/countable.js";
import { type BaselineShared, baselineCodec } from "../baseline-state.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner, Lesson } from "../learner.js";
import { checkSettings, FINITE, NOT_NEGATIVE } from "../legality.js";
import { scoreOneByOne } from "../one-by-one.js";
import { expectedLogit } from "../request-baseline.js";
import { observeSpread, spreadScale } from "../running-spread.js";
import { scalarCodec } from "../scalar-codec.js";
import { countRun, moveBaselines, withdrawSteps } from "../surprise.js";
import { FADE, JOINT_LOGISTIC_DEFAULTS, JOINT_LOGISTIC_RULES, type JointLogisticOptions } from "./parameters.js";

/** One memory. */
export interface JointLogisticMemory {
  /** What showing it adds to the log-odds of success. */
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
 * Fitted jointly: what one memory explains is not credited to the others. One step of gradient ascent per run, no replay.
 *
 * - **State**: two numbers per memory; one vector (1 KiB at 256 dims) and four numbers per collection.
 * - **Not order-independent**: a gradient step depends on all before it. A corrected outcome takes its steps back: exactly for the
 *   last one; of older ones what later fading (0.2 % per showing) took stays.
 * - **Wrong choice** when memories help some requests and harm others: one number averages the two. Steps shrink with evidence, so
 *   habits that change are learned slowly.
 * - An outcome's weight multiplies its steps. Votes, relevance and use are ignored.
 * - **Source**: online logistic regression (stochastic gradient ascent with steps of 1/√n).
 *
 * @throws INVALID_ARGUMENT
 */
export function jointLogistic(
  options: JointLogisticOptions = {},
): Learner<BaselineShared, JointLogisticMemory, DecodedTable<JointLogisticMemory>> {
  const settings = { ...JOINT_LOGISTIC_DEFAULTS, ...options };
  checkSettings("jointLogistic", settings, JOINT_LOGISTIC_RULES);
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
          // Nothing learned is exactly 0, whatever fading left.
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

/** Once per run each memory shown loses a little: `m ← 0.998 m`, kept countable so that steps can be taken back to the bit. */
function fadeMemories({ exposures }: Lesson<BaselineShared, JointLogisticMemory>): void {
  for (const { shown } of exposures) {
    for (const { memory, weight } of shown) if (weight > 0) memory.logit = countable((1 - FADE) * memory.logit);
  }
}
