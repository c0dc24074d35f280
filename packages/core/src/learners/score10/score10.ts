import { rescaledNote, unitSimilarities } from "../../scoring/blend.js";
import { laterOf } from "../../scoring/time.js";
import { contribute, withdraw } from "../contribution.js";
import { DecodedTable } from "../decoded-table.js";
import type { Learner } from "../learner.js";
import { checkSettings, TIME } from "../legality.js";
import { type MovingAverage, movingAverages } from "../moving-average.js";
import { noState } from "../no-state.js";
import { scoreOneByOne } from "../one-by-one.js";
import { scalarCodec } from "../scalar-codec.js";
import { SUCCESS } from "../success.js";
import { quality, recency } from "./formulas.js";
import {
  CANDIDATES_PER_ITEM,
  LIMIT,
  MOST_CANDIDATES,
  SCORE10_DEFAULTS,
  SCORE10_RULES,
  type Score10Options,
} from "./parameters.js";

/** One memory: its score in [−10, 10]. */
export interface Score10Memory extends MovingAverage {
  /** Unix ms of the last exposure that showed it, NaN for never. */
  lastUsed: number;
}

const averages = movingAverages(0, -LIMIT, LIMIT);
const codec = scalarCodec<Score10Memory>({ ...averages.fields, lastUsed: { empty: Number.NaN, rule: TIME } });

/**
 * **±10 moving average**, `score10@1`: an agent's reflection names memories that helped and memories that harmed.
 *
 *     score ← 0.3 · Δ + 0.7 · score, in ±10          Δ = +2 helpful, −3 harmful
 *     rank  = 0.5 · similarity + 0.3 · (score + 10) / 20 + 0.2 · 0.5^(days since last use / 30)
 *
 * Recency is 0 for a memory that was never used. Memories below −5 are dropped there; a ranking drops nothing, so here they
 * stand behind all others. Votes decide; a run without votes counts as one vote on each memory shown (reward of at least 0.5:
 * helpful), since most hosts know how a run ended and few ask which memory did it. An outcome's weight multiplies the step.
 *
 * - **State**: four numbers per memory, nothing per collection. Asks for 5·topK candidates, at most 100.
 * - **Not order-independent**: a moving average keeps more of what came last. A correction takes back what later votes of the same
 *   weight have left of the old verdict, which is exact for the last one only.
 * - **Wrong choice** when much is to be learned: the average of +2 and −3 lies in (−3, 2), so that quality spans 0.075 of the
 *   rank, nothing ever falls below −5, and a helpful vote lowers every score above 2. A harmful memory shown today stands above
 *   a fresh one, since recency rewards being shown.
 * - Similarities outside [−1, 1] are rescaled by min–max over the candidates.
 * - **Source**: warren 0.8.2 (secmon-lab), `pkg/service/memory`, scoring and selection.
 *
 * @throws INVALID_ARGUMENT
 */
export function score10(options: Score10Options = {}): Learner<null, Score10Memory, DecodedTable<Score10Memory>> {
  const settings = { ...SCORE10_DEFAULTS, ...options };
  checkSettings("score10", settings, SCORE10_RULES);
  const { rate, helpful, harmful, learnFromRewards } = settings;
  const { similarityWeight, qualityWeight, recencyWeight, halfLifeDays, floor } = settings;
  // The span of all ranks: less than anything that was not moved behind.
  const behind = 2 * similarityWeight + qualityWeight + recencyWeight;

  return {
    id: "score10@1",
    fetchK: (topK) => Math.min(MOST_CANDIDATES, CANDIDATES_PER_ITEM * topK),
    shared: noState,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score(request) {
      const { table, rows, similarities, now } = request;
      const { values, rescaled } = unitSimilarities(similarities, -1);
      const scores = scoreOneByOne(request, {
        utility: (memory) => memory?.value ?? 0,
        evidence: ({ evidence }) => evidence,
        score(_, utility, i) {
          const used = recency(table.at(rows[i] as number)?.lastUsed ?? Number.NaN, now, halfLifeDays);
          const rank =
            similarityWeight * (values[i] as number) + qualityWeight * quality(utility) + recencyWeight * used;
          return utility < floor ? rank - behind : rank;
        },
      });
      return rescaled && !scores.unchanged ? { ...scores, note: rescaledNote(-1) } : scores;
    },

    observe({ memories, at }) {
      for (const memory of memories()) memory.lastUsed = laterOf(memory.lastUsed, at);
    },

    learn(lesson) {
      const { reward, weight, voted } = lesson;
      const rewarded = reward !== null && learnFromRewards && !voted;
      return contribute(lesson, {
        memory({ memory, vote }) {
          if (vote === 0 && !rewarded) return [];
          const helped = vote === 0 ? (reward as number) >= SUCCESS : vote > 0;
          return averages.move(memory, helped ? helpful : harmful, rate, weight);
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, { memory: ({ memory }, added) => averages.takeBack(memory, added) });
    },

    discount: averages.keep,
    describe: ({ value, evidence }) => ({ utility: value, evidence }),
    summarize: () => ({}),
  };
}
