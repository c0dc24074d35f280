import {
  ABOVE_0,
  between,
  contribute,
  DecodedTable,
  type Defined,
  daysBetween,
  type FieldRule,
  type Learner,
  laterOf,
  NOT_NEGATIVE,
  noState,
  RATE,
  rescaledNote,
  resolveOptions,
  scoreOneByOne,
  TIME,
  unitSimilarities,
  withdraw,
} from "@qavr/core/learner";
import { type MovingAverage, movingAverages } from "./moving-average.js";
import { scalarCodec } from "./scalar-codec.js";

/** A reward of at least this is a success. */
const SUCCESS = 0.5;

/** Settings of the `score10` learner; defaults are the published ones. */
export interface Score10Options {
  /** Step of the moving average, in (0, 1]. @default 0.3 (0.5 in the published aggressive variant) */
  readonly rate?: number | undefined;
  /** Target of a helpful memory, in [−10, 10]. @default 2 (aggressive: 3) */
  readonly helpful?: number | undefined;
  /** Target of a harmful memory, in [−10, 10]. @default −3 (aggressive: −5) */
  readonly harmful?: number | undefined;
  /** Weight of similarity in the selection, at least 0. @default 0.5 */
  readonly similarityWeight?: number | undefined;
  /** Weight of the score, mapped to [0, 1], at least 0. @default 0.3 */
  readonly qualityWeight?: number | undefined;
  /** Weight of recency, at least 0. @default 0.2 */
  readonly recencyWeight?: number | undefined;
  /** Days after which recency has halved, above 0. @default 30 */
  readonly halfLifeDays?: number | undefined;
  /** Memories with a lower score rank behind all others, in [−10, 10]. @default −5 */
  readonly floor?: number | undefined;
  /** True when the reward of a run without votes counts as a vote on every memory shown. @default true */
  readonly learnFromRewards?: boolean | undefined;
}

const SCORE10_DEFAULTS: Defined<Score10Options> = {
  rate: 0.3,
  helpful: 2,
  harmful: -3,
  similarityWeight: 0.5,
  qualityWeight: 0.3,
  recencyWeight: 0.2,
  halfLifeDays: 30,
  floor: -5,
  learnFromRewards: true,
};

/** Bound of a score. */
const LIMIT = 10;
/** Most candidates of the published selection, and candidates per memory shown. */
const MOST_CANDIDATES = 100;
const CANDIDATES_PER_ITEM = 5;

const SCORE_RULE: FieldRule = between(-LIMIT, LIMIT);

const SCORE10_RULES: Readonly<Record<keyof Score10Options, FieldRule>> = {
  rate: RATE,
  helpful: SCORE_RULE,
  harmful: SCORE_RULE,
  similarityWeight: NOT_NEGATIVE,
  qualityWeight: NOT_NEGATIVE,
  recencyWeight: NOT_NEGATIVE,
  halfLifeDays: ABOVE_0,
  floor: SCORE_RULE,
  learnFromRewards: [(value) => typeof value === "boolean", "true or false"],
};

/** One memory: its score in [−10, 10]. */
export interface Score10Memory extends MovingAverage {
  /** Unix ms of the last exposure that showed it, NaN for never. */
  lastUsed: number;
}

const averages = movingAverages(0, -LIMIT, LIMIT);
const codec = scalarCodec<Score10Memory>({ ...averages.fields, lastUsed: { empty: Number.NaN, rule: TIME } });

/**
 * **±10 moving average**, `score10@1`: an agent's reflection names helpful and harmful memories.
 *
 *     score ← 0.3 · Δ + 0.7 · score, in ±10          Δ = +2 helpful, −3 harmful
 *     rank  = 0.5 · similarity + 0.3 · (score + 10) / 20 + 0.2 · 0.5^(days since last use / 30)
 *
 * Recency is 0 for a memory that was never used. Memories below −5 are dropped in the original; a ranking drops
 * nothing, so here they rank behind all others. Votes decide. A run without votes counts as one vote on each memory shown (helpful at
 * a reward of at least 0.5), since few hosts ask for votes. An outcome's weight multiplies the step.
 *
 * - **State**: four numbers per memory, nothing per collection. Asks for 5·topK candidates, at most 100.
 * - **Not order-independent**: a moving average weighs recent votes more. A correction takes back the remainder of the old verdict after
 *   later votes of the same weight; that is exact for the last one only.
 * - **Wrong choice** when memories differ much: the average of +2 and −3 lies in (−3, 2), so quality spans 0.075 of the rank, no
 *   memory falls below −5, and a helpful vote lowers every score above 2. A harmful memory shown today ranks above a new one, since
 *   recency rewards showing.
 * - Similarities outside [−1, 1] are rescaled by min–max over the candidates.
 * - **Source**: warren 0.8.2 (secmon-lab), `pkg/service/memory`, scoring and selection.
 *
 * @throws INVALID_ARGUMENT
 */
export function score10(options: Score10Options = {}): Learner<null, Score10Memory, DecodedTable<Score10Memory>> {
  const settings = resolveOptions("score10", options, SCORE10_DEFAULTS, SCORE10_RULES);
  const { rate, helpful, harmful, learnFromRewards } = settings;
  const { similarityWeight, qualityWeight, recencyWeight, halfLifeDays, floor } = settings;
  // The span of all ranks: subtracting it ranks a memory behind all others.
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
      const { reward, weight } = lesson;
      return contribute(lesson, {
        memory({ memory, vote }, { voted }) {
          if (vote === 0 && (voted || reward === null || !learnFromRewards)) return [];
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

/**
 * The thresholds that no score ever meets, whatever the votes: a score begins at 0 and stays between its targets, which it reaches only
 * at a rate of 1. Negative thresholds are met from below (score ≤ threshold), positive ones from above. Of the published −8, −5 and −3 none
 * is met, since votes move scores in (−3, 2).
 */
export function unreachableScores(
  thresholds: readonly number[],
  {
    rate = SCORE10_DEFAULTS.rate,
    helpful = SCORE10_DEFAULTS.helpful,
    harmful = SCORE10_DEFAULTS.harmful,
  }: Score10Options = {},
): number[] {
  const low = Math.min(0, helpful, harmful);
  const high = Math.max(0, helpful, harmful);
  const isMet = (threshold: number): boolean =>
    threshold === 0 ||
    (low < threshold && threshold < high) ||
    (rate === 1 && (threshold === low || threshold === high));
  return thresholds.filter((threshold) => !isMet(threshold));
}

/** A score in [−10, 10] as a quality in [0, 1]: `(score + 10) / 20`. */
export function quality(score: number): number {
  return (score + LIMIT) / (2 * LIMIT);
}

/** `0.5^(days / halfLife)` since the last use; 0 for a memory that was never used (NaN), 1 for negative times. */
export function recency(lastUsed: number, now: number, halfLifeDays: number): number {
  return Number.isNaN(lastUsed) ? 0 : 0.5 ** (Math.max(0, daysBetween(lastUsed, now)) / halfLifeDays);
}
