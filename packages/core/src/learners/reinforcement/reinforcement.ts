import { blend } from "../../scoring/blend.js";
import { contribute } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings, NOT_NEGATIVE } from "../legality.js";
import { noState } from "../no-state.js";
import { scoreOneByOne } from "../one-by-one.js";
import { scalarCodec } from "../scalar-codec.js";
import { confidence, shareOfBest } from "./formulas.js";
import { REINFORCEMENT_DEFAULTS, REINFORCEMENT_RULES, type ReinforcementOptions } from "./parameters.js";

/** One memory. */
export interface ReinforcementMemory {
  /** Exposures that showed it. A fraction after an edit. */
  reinforcements: number;
}

const codec = scalarCodec<ReinforcementMemory>({ reinforcements: { empty: 0, rule: NOT_NEGATIVE } });

/**
 * **Reinforcement counter**, `reinforcement@1`: what is read often is believed more.
 *
 *     c     = 1 − (1 − 0.7) · 0.9^reads              c ← c + 0.1 · (1 − c) at each reading
 *     score = 0.7 · similarity / best + 0.3 · c      best: the request's greatest similarity
 *
 * - **State**: one counter per memory, nothing per collection.
 * - **Order-independent**: it counts exposures, whatever came of them. There is nothing to correct.
 * - **Wrong choice** whenever outcomes are known: it never looks at them, being shown makes a memory more likely to be shown, and
 *   nothing ever lowers it. Kept as a baseline.
 * - `evidence` counts readings.
 * - Similarities are divided by the greatest, as published; lists with negative ones are mapped to [0, 1] by min–max instead.
 * - **Source**: hive, issue 97 (lesson reinforcement). The published comment "0.97 after 20 readings" is wrong: it is 0.9635.
 *
 * @throws INVALID_ARGUMENT
 */
export function reinforcement(
  options: ReinforcementOptions = {},
): Learner<null, ReinforcementMemory, DecodedTable<ReinforcementMemory>> {
  const settings = { ...REINFORCEMENT_DEFAULTS, ...options };
  checkSettings("reinforcement", settings, REINFORCEMENT_RULES);
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
