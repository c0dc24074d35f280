/** The kind of world to simulate. Shares and probabilities in [0, 1]; runs are counted from 0. */
export interface Scenario {
  /** Runs in the stream; beyond the texts there are, they are asked again in another order. @default 3,000 */
  readonly runs?: number;
  /** Different requests in the stream: with fewer than runs, the same ones come again. @default as many as there are */
  readonly distinct?: number;
  /** Memories shown per run. @default 5 */
  readonly k?: number;
  /** Held-out requests to judge by. @default 400 */
  readonly heldOut?: number;
  /** Share of lessons that mislead. @default 0.3 */
  readonly poison?: number;
  /** Share of lessons that do nothing; the rest helps. @default 0.2 */
  readonly neutral?: number;
  /** Share of needs that the stream never asks about. @default 0.15 */
  readonly unseen?: number;
  /** Probability that an outcome is reported the wrong way round. @default 0 */
  readonly flip?: number;
  /** True if outcomes are tossed with a fair coin, whatever was shown. @default false */
  readonly coinToss?: boolean;
  /** Every outcome of a run before this one is reported the wrong way round. @default 0 */
  readonly invertedUntil?: number;
  /** Rewards of a failure and of a success, in [0, 1]. @default 0 and 1 */
  readonly scores?: readonly [failure: number, success: number];
  /** Exponent s > 0 of Zipf's law: the r-th most frequent need is asked in proportion to 1 / r^s. 0: as often as the texts have it. @default 0 */
  readonly zipf?: number;
  /** From this run on, half of the needs have newly drawn qualities. @default never */
  readonly driftAt?: number;
  /** Sources of outcomes. @default one checker, always */
  readonly sources?: Sources | undefined;
}

/**
 * Outcomes that come from named sources, some of which lie. A run carries a claim of one of them, and independently of that may be
 * verified; a verified outcome replaces a claim. A run with neither has no outcome.
 */
export interface Sources {
  /** How many there are; each claim comes from any of them, equally likely. */
  readonly count: number;
  /** Share of runs with a claim. */
  readonly claimed: number;
  /** Share of runs that are verified. */
  readonly verified: number;
  /** How many of the sources report the opposite of the truth. */
  readonly liars: number;
  /** The liars are honest before this run. */
  readonly lyingFrom: number;
  /** Probability that an honest source errs. */
  readonly error: number;
}

export const DEFAULT_SCENARIO: Required<Scenario> = {
  runs: 3000,
  distinct: Number.POSITIVE_INFINITY,
  k: 5,
  heldOut: 400,
  poison: 0.3,
  neutral: 0.2,
  unseen: 0.15,
  flip: 0,
  coinToss: false,
  invertedUntil: 0,
  scores: [0, 1],
  zipf: 0,
  driftAt: Number.POSITIVE_INFINITY,
  sources: undefined,
};
