import { sigmoid, spread } from "@qavr/core/learner";

/** Parameters of the model; part of the version of `grouped`. */
export const GROUP = {
  /** Prior shares of memories that help, do nothing, mislead. */
  helps: 0.4,
  neutral: 0.3,
  misleads: 0.3,
  /** Share of the failures of a group's requests that a helping memory turns into successes. Range 0.5..0.9. */
  cure: 0.75,
  /** Share of the successes that is left beside a misleading memory. Range 0.3..0.7. */
  spared: 0.5,
  /** Log-odds of success without help on hard, usual and easy requests, and the prior of each. */
  levels: [-2, 0, 2],
  levelPrior: [0.25, 0.5, 0.25],
  /** Odds by which a vote moves a memory towards helping or misleading. Range 2..10. */
  vote: 4,
  /** Most log-odds that a memory keeps. Range 4..8. */
  mostEvidence: 5,
  /** Groups less likely than this are not considered. */
  leastShare: 0.01,
  /** Variance of similarities inside groups, over that of the list, beyond which groups do not count. Range 0.8..0.95. */
  mostWithin: 0.9,
  /** Degrees of freedom behind that number before groups count. */
  leastFreedom: 20,
} as const;

/** Evidence about a memory inside its group, in log-odds; all 0 before any run. */
export interface GroupEvidence {
  /** That it helps or misleads, against doing nothing. */
  helps: number;
  misleads: number;
  /** Its part of the evidence that its group's requests are harder or easier than usual ones. */
  hard: number;
  easy: number;
}

/** Chances that a memory helps, does nothing, misleads. */
export type Chances = readonly [helps: number, neutral: number, misleads: number];

export const HELPS: Chances = [1, 0, 0];
export const NEUTRAL: Chances = [0, 1, 0];
export const MISLEADS: Chances = [0, 0, 1];

export function chancesOf(memory: Pick<GroupEvidence, "helps" | "misleads"> | undefined): Chances {
  const helps = GROUP.helps * Math.exp(memory?.helps ?? 0);
  const misleads = GROUP.misleads * Math.exp(memory?.misleads ?? 0);
  const all = helps + GROUP.neutral + misleads;
  return [helps / all, GROUP.neutral / all, misleads / all];
}

/** Chances that a group's requests are hard, usual, easy. */
export type Levels = readonly number[];

/** @param members the group's memories at hand: each holds its own part of the evidence */
export function levelsOf(members: readonly (GroupEvidence | undefined)[]): Levels {
  let hard = 0;
  let easy = 0;
  for (const member of members) {
    hard += member?.hard ?? 0;
    easy += member?.easy ?? 0;
  }
  const [ofHard, ofUsual, ofEasy] = GROUP.levelPrior;
  const odds = [ofHard * Math.exp(hard), ofUsual, ofEasy * Math.exp(easy)];
  const all = odds.reduce((sum, one) => sum + one, 0);
  return odds.map((one) => one / all);
}

/** Chances that, of the memories of a group that are shown, none helps, none misleads, none does either. */
export type Shown = readonly [unhelped: number, unharmed: number, untouched: number];

export const NOTHING: Shown = [1, 1, 1];

export function withMemory([unhelped, unharmed, untouched]: Shown, [helps, neutral, misleads]: Chances): Shown {
  return [unhelped * (1 - helps), unharmed * (1 - misleads), untouched * neutral];
}

/**
 * Chance that a run about a group succeeds at one level.
 *
 *     p₀ = sigmoid(level),  p₁ = 1 − (1 − p₀)(1 − 0.75) where any memory helps,  half of either where any misleads
 */
export function chanceAt(level: number, [unhelped, unharmed, untouched]: Shown): number {
  const alone = sigmoid(GROUP.levels[level] as number);
  const helped = 1 - (1 - alone) * (1 - GROUP.cure);
  const unhelpedPart = untouched + GROUP.spared * (unhelped - untouched);
  const helpedPart = unharmed - untouched + GROUP.spared * (1 - unhelped - unharmed + untouched);
  return alone * unhelpedPart + helped * helpedPart;
}

/** The same over all levels. */
export function chanceOf(levels: Levels, shown: Shown): number {
  return levels.reduce((sum, chance, level) => sum + chance * chanceAt(level, shown), 0);
}

/**
 * How far similarities stay together inside groups: squared distances from each group's mean in units of the list's variance, and their
 * degrees of freedom. Their quotient is 1 in the mean where groups have nothing to do with similarity, and less where they have.
 */
export function spreadInGroups(
  similarities: Float64Array,
  groups: Int32Array,
): { readonly within: number; readonly freedom: number } {
  const unit = spread(similarities);
  if (unit === 0) return { within: 0, freedom: 0 };
  const lists = Map.groupBy(similarities, (_, i) => groups[i]);
  let within = 0;
  for (const list of lists.values()) within += list.length * (spread(Float64Array.from(list)) / unit) ** 2;
  const { length } = similarities;
  return { within: (within * (length - 1)) / length, freedom: length - lists.size };
}
