import { ABOVE_0, between, type FieldRule, NOT_NEGATIVE, RATE } from "../legality.js";

/** Settings of the `score10` learner; defaults are the published ones. */
export interface Score10Options {
  /** Step of the moving average, in (0, 1]. @default 0.3 (0.5 in the published aggressive variant) */
  readonly rate?: number;
  /** What a helpful memory moves towards, in [−10, 10]. @default 2 (aggressive: 3) */
  readonly helpful?: number;
  /** What a harmful memory moves towards, in [−10, 10]. @default −3 (aggressive: −5) */
  readonly harmful?: number;
  /** Weight of similarity in the selection, at least 0. @default 0.5 */
  readonly similarityWeight?: number;
  /** Weight of the score, mapped to [0, 1], at least 0. @default 0.3 */
  readonly qualityWeight?: number;
  /** Weight of recency, at least 0. @default 0.2 */
  readonly recencyWeight?: number;
  /** Days after which recency has halved, above 0. @default 30 */
  readonly halfLifeDays?: number;
  /** Memories that score less stand behind all others, in [−10, 10]. @default −5 */
  readonly floor?: number;
  /** Whether the end of a run without votes counts as a vote on every memory shown. @default true */
  readonly learnFromRewards?: boolean;
}

export const SCORE10_DEFAULTS: Required<Score10Options> = {
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
export const LIMIT = 10;
/** Most candidates that the published selection looks at, and how many for each one shown. */
export const MOST_CANDIDATES = 100;
export const CANDIDATES_PER_ITEM = 5;

const SCORE_RULE: FieldRule = between(-LIMIT, LIMIT);

export const SCORE10_RULES: Readonly<Record<keyof Score10Options, FieldRule>> = {
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
