import type { Defined } from "../../errors/defined-only.js";
import { between, type FieldRule, RATE, UNIT, whole } from "../legality.js";

/** The rewards of the seed's table. Each in [−1, 1]. */
export interface QavrRewards {
  /** The run succeeded and used the memory (or nobody said which were used). @default 1 */
  readonly used: number;
  /** The run succeeded without using it. Under this update it pulls q towards 0.1: mildly positive by name, a punishment for any better memory. @default 0.1 */
  readonly notUsed: number;
  /** The run failed. 0 is the "plain failure" of the seed's code comment. @default −0.2 */
  readonly failed: number;
}

/** Settings of the `qavr` learner; names and defaults are the seed's. */
export interface QavrOptions {
  /** Step of the moving average, in (0, 1]. @default 0.1 */
  readonly learningRate?: number | undefined;
  /** What an unused memory keeps per day, in (0, 1]. @default 0.99 */
  readonly decayFactor?: number | undefined;
  /** Finished episodes of a context before its q-values count. Whole number ≥ 0. @default 100 */
  readonly warmThreshold?: number | undefined;
  /** Share of q in the score of a warm context, in [0, 1]. @default 0.3 */
  readonly alphaWarm?: number | undefined;
  /** q of a memory that never taught, in [0, 1]. @default 0.5 */
  readonly initialQ?: number | undefined;
  /** Candidates per item shown. Whole number ≥ 1. @default 2 */
  readonly overFetch?: number | undefined;
  readonly rewards?: Partial<QavrRewards> | undefined;
}

/** Every setting with its value. */
export type QavrSettings = Defined<Omit<QavrOptions, "rewards">> & { readonly rewards: QavrRewards };

export const QAVR_DEFAULTS: QavrSettings = {
  learningRate: 0.1,
  decayFactor: 0.99,
  warmThreshold: 100,
  alphaWarm: 0.3,
  initialQ: 0.5,
  overFetch: 2,
  rewards: { used: 1, notUsed: 0.1, failed: -0.2 },
};

export const QAVR_RULES: Readonly<Record<keyof Omit<QavrSettings, "rewards">, FieldRule>> = {
  learningRate: RATE,
  decayFactor: RATE,
  warmThreshold: whole(0),
  alphaWarm: UNIT,
  initialQ: UNIT,
  overFetch: whole(1),
};

export const QAVR_REWARD_RULES: Readonly<Record<keyof QavrRewards, FieldRule>> = {
  used: between(-1, 1),
  notUsed: between(-1, 1),
  failed: between(-1, 1),
};
