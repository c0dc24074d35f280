import {
  blend,
  contribute,
  DecodedTable,
  type Defined,
  type FieldRule,
  type Learner,
  NOT_NEGATIVE,
  noState,
  resolveOptions,
  scoreOneByOne,
  UNIT,
  unitSimilarities,
} from "@qavr/core/learner";
import { scalarCodec } from "./scalar-codec.js";

/** Settings of the `reinforcement` learner; defaults are the published ones. */
export interface ReinforcementOptions {
  /** Confidence of a lesson that was never read, in [0, 1]. @default 0.7 */
  readonly initialConfidence?: number | undefined;
  /** Share of the missing confidence that a reading adds, in [0, 1]. @default 0.1 */
  readonly growth?: number | undefined;
  /** Share of confidence in the score, in [0, 1]; 0 is the host's order. @default 0.3 (published as 0.7 for the lexical score) */
  readonly confidenceWeight?: number | undefined;
}

const REINFORCEMENT_DEFAULTS: Defined<ReinforcementOptions> = {
  initialConfidence: 0.7,
  growth: 0.1,
  confidenceWeight: 0.3,
};

const REINFORCEMENT_RULES: Readonly<Record<keyof ReinforcementOptions, FieldRule>> = {
  initialConfidence: UNIT,
  growth: UNIT,
  confidenceWeight: UNIT,
};

/** One memory. */
export interface ReinforcementMemory {
  /** Exposures that showed it. A fraction after an edit. */
  reinforcements: number;
}

const codec = scalarCodec<ReinforcementMemory>({ reinforcements: { empty: 0, rule: NOT_NEGATIVE } });

/**
 * **Reinforcement counter**, `reinforcement@1`: memories that are read often rank higher.
 *
 *     c     = 1 − (1 − 0.7) · 0.9^reads              c ← c + 0.1 · (1 − c) at each reading
 *     score = 0.7 · similarity / best + 0.3 · c      best: the request's greatest similarity
 *
 * - **State**: one counter per memory, nothing per collection.
 * - **Order-independent**: it counts exposures and ignores outcomes. There is nothing to correct.
 * - **Wrong choice** when outcomes are known: it ignores them, each showing makes the next one more likely, and nothing lowers a
 *   memory again. It is a baseline.
 * - `evidence` counts readings.
 * - Similarities are divided by the greatest, as published; lists with negative ones are mapped to [0, 1] by min–max instead.
 * - **Source**: hive, issue 97 (lesson reinforcement). The published comment "0.97 after 20 readings" is wrong: it is 0.9635.
 *
 * @throws INVALID_ARGUMENT
 */
export function reinforcement(
  options: ReinforcementOptions = {},
): Learner<null, ReinforcementMemory, DecodedTable<ReinforcementMemory>> {
  const settings = resolveOptions("reinforcement", options, REINFORCEMENT_DEFAULTS, REINFORCEMENT_RULES);
  const { initialConfidence, growth, confidenceWeight } = settings;
  const confidenceOf = (memory: ReinforcementMemory | undefined): number =>
    confidence(initialConfidence, growth, memory?.reinforcements ?? 0);

  return {
    id: "reinforcement@1",
    shared: noState,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score(request) {
      const relevance = shareOfBest(request.similarities);
      const scores = scoreOneByOne(request, {
        utility: confidenceOf,
        evidence: ({ reinforcements }) => reinforcements,
        score: (_, utility, i) => blend(relevance[i] as number, utility, confidenceWeight),
      });
      return confidenceWeight === 0 ? { ...scores, score: request.similarities, gate: 0, unchanged: true } : scores;
    },

    observe({ memories }) {
      for (const memory of memories()) memory.reinforcements += 1;
    },

    learn: (lesson) => contribute(lesson, {}),
    unlearn() {},

    discount(memory, keep) {
      memory.reinforcements *= keep;
    },

    describe: (memory) => ({ utility: confidenceOf(memory), evidence: memory.reinforcements }),
    summarize: () => ({}),
  };
}

/** `1 − (1 − c₀) · (1 − growth)^reads`: the closed form of `c ← c + growth · (1 − c)`. Never above 1. */
export function confidence(initial: number, growth: number, reads: number): number {
  return 1 - (1 - initial) * (1 - growth) ** reads;
}

/** Each similarity as a share of the request's greatest; all 0 when that is 0, min–max when some are negative. */
export function shareOfBest(similarities: Float64Array): Float64Array {
  let best = 0;
  let negative = false;
  for (const value of similarities) {
    if (value > best) best = value;
    if (value < 0) negative = true;
  }
  if (negative) return unitSimilarities(similarities).values;
  return best === 0 ? similarities : similarities.map((value) => value / best);
}
