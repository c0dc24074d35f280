import {
  between,
  type Defined,
  type FieldRule,
  type FieldRules,
  NOT_NEGATIVE,
  problemOf,
  RATE,
  resolveOptions,
  TIME,
  UNIT,
  whole,
} from "../errors/field-rules.js";
import { blend, rescaledNote, unitSimilarities } from "../scoring/blend.js";
import { clamp } from "../scoring/bounds.js";
import { daysBetween, laterOf } from "../scoring/time.js";
import { contribute, withdraw } from "./contribution.js";
import type { Learner, StateCodec } from "./learner.js";
import { DecodedTable, scoreOneByOne } from "./one-by-one.js";

/** The rewards of the seed's table. Each in [−1, 1]. */
export interface QValueRewards {
  /** The run succeeded and used the memory (or the use is unknown). @default 1 */
  readonly used: number;
  /** The run succeeded without using it. It pulls q towards 0.1, which lowers the q of any better memory. @default 0.1 */
  readonly notUsed: number;
  /** The run failed. The seed's code comment says 0 for a plain failure. @default −0.2 */
  readonly failed: number;
}

/** Settings of the `qValue` learner; names and defaults are the seed's. */
export interface QValueOptions {
  /** Step of the moving average, in (0, 1]. @default 0.1 */
  readonly learningRate?: number | undefined;
  /** Share of q that an unused memory keeps per day, in (0, 1]. @default 0.99 */
  readonly decayFactor?: number | undefined;
  /** Finished episodes of a context before its q-values count. Whole number ≥ 0. @default 100 */
  readonly warmThreshold?: number | undefined;
  /** Share of q in the score of a warm context, in [0, 1]. @default 0.3 */
  readonly alphaWarm?: number | undefined;
  /** q of a memory that never taught, in [0, 1]. @default 0.5 */
  readonly initialQ?: number | undefined;
  /** Candidates per item shown. Whole number ≥ 1. @default 2 */
  readonly overFetch?: number | undefined;
  readonly rewards?: { readonly [Reward in keyof QValueRewards]?: QValueRewards[Reward] | undefined } | undefined;
}

/** The learner that `qValue` returns, named for the declarations of other packages. */
export interface QValueLearner extends Learner<QValueShared, QValueState, DecodedTable<QValueState>> {}

/** Every setting with its value. */
export type QValueSettings = Defined<Omit<QValueOptions, "rewards">> & { readonly rewards: QValueRewards };

export const Q_VALUE_DEFAULTS: QValueSettings = {
  learningRate: 0.1,
  decayFactor: 0.99,
  warmThreshold: 100,
  alphaWarm: 0.3,
  initialQ: 0.5,
  overFetch: 2,
  rewards: { used: 1, notUsed: 0.1, failed: -0.2 },
};

/** A reward of at least this is a success. */
const SUCCESS = 0.5;

/**
 * **Q-value augmented vector retrieval**, `q-value@1`: the formula that gave this project its name, exactly as published.
 *
 *     score = (1 − α) · similarity + α · q          α = 0 until 100 finished episodes of the context, then 0.3
 *     q ← q + 0.1 · (r − q), in [0, 1]              r = 1 used and succeeded, 0.1 not used, −0.2 failed
 *     unused memories fade: q · 0.99^days
 *
 * - **State**: one number per memory, for every request; warmth per context.
 * - **Order**: only the first 2·topK candidates compete.
 * - **Wrong choice** when memories are good for some requests and bad for others: one number cannot express that. A
 *   difference in q bridges at most α / (1 − α) = 0.43 of similarity. It is a baseline, and kept for its users.
 * - An outcome's weight multiplies the step: a run that completed without a verdict (weight 0.3) moves q by 0.03 instead of 0.1.
 * - Votes are ignored; q is not a probability (half successes, half failures settle at 0.4).
 *
 * @throws INVALID_ARGUMENT
 */
export function qValue(options: QValueOptions = {}): QValueLearner {
  const settings = resolve(options);
  const { learningRate, decayFactor, warmThreshold, alphaWarm, initialQ, rewards } = settings;
  const codec = memoryCodec(initialQ);
  const decayed = (memory: QValueState, now: number): number =>
    decayedQ(memory.q, memory.lastAccessed, now, decayFactor);
  const isWarm = ({ contexts }: QValueShared, context: string): boolean => (contexts[context] ?? 0) >= warmThreshold;

  return {
    id: "q-value@1",
    fetchK: (topK) => settings.overFetch * topK,
    shared: sharedCodec,
    memory: codec,
    createTable: () => new DecodedTable(codec),

    score(request) {
      const { shared, similarities, context, topK, now } = request;
      const alpha = isWarm(shared ?? sharedCodec.empty(), context) ? alphaWarm : 0;
      const { values, rescaled } = unitSimilarities(similarities);
      const scores = scoreOneByOne(
        request,
        {
          utility: (memory) => (memory ? decayed(memory, now) : initialQ),
          evidence: ({ successCount, failureCount }) => successCount + failureCount,
          score: (similarity, q, i) => (alpha === 0 ? similarity : blend(values[i] as number, q, alpha)),
        },
        settings.overFetch * topK,
      );
      const unchanged = scores.unchanged || alpha === 0;
      return { ...scores, gate: alpha, unchanged, ...(rescaled && !unchanged ? { note: rescaledNote(0) } : {}) };
    },

    observe({ memories, at }) {
      for (const memory of memories()) {
        memory.q = decayed(memory, at);
        memory.lastAccessed = at;
        memory.accessCount += 1;
      }
    },

    learn(lesson) {
      const { exposures, reward, weight, at } = lesson;
      const counted = reward === null ? [] : firstOfContexts(exposures);
      for (const { shared, context } of counted) shared.contexts[context] = (shared.contexts[context] ?? 0) + 1;
      return contribute(lesson, {
        collection: (exposure) => (counted.includes(exposure) ? [1] : []),
        memory({ memory, used }) {
          if (reward === null) return [];
          const success = reward >= SUCCESS;
          const earned = success ? (used === false ? rewards.notUsed : rewards.used) : rewards.failed;
          const before = decayed(memory, at);
          const rate = learningRate * weight;
          memory.q = updatedQ(before, earned, rate);
          memory.lastAccessed = laterOf(memory.lastAccessed, at);
          memory.updates += 1;
          if (success) memory.successCount += 1;
          else memory.failureCount += 1;
          return [before - memory.q, rate, memory.updates, success ? 1 : 0];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        // An interaction counts once per episode: it is taken back with its outcome and added again with the better one.
        collection({ shared, context }) {
          shared.contexts[context] = (shared.contexts[context] ?? 1) - 1;
        },
        memory({ memory }, [change = 0, rate = 0, updates = 0, success]) {
          memory.q = clamp(memory.q + leftOf(change, rate, memory.updates - updates), 0, 1);
          memory.updates -= 1;
          // An edit in between may have halved the count.
          if (success) memory.successCount = Math.max(0, memory.successCount - 1);
          else memory.failureCount = Math.max(0, memory.failureCount - 1);
        },
      });
    },

    discount(memory, keep) {
      memory.q = initialQ + (memory.q - initialQ) * keep;
      memory.successCount *= keep;
      memory.failureCount *= keep;
    },

    describe: (memory, now) => ({
      utility: decayed(memory, now),
      evidence: memory.successCount + memory.failureCount,
    }),

    isWarm,
    summarize: (shared) => ({
      contexts: Object.fromEntries(
        Object.entries(shared.contexts).map(([context, interactions]) => [
          context,
          {
            interactions,
            mode: isWarm(shared, context) ? "warm" : "cold",
            interactionsToWarm: Math.max(0, warmThreshold - interactions),
          },
        ]),
      ),
    }),
  };
}

/** The first exposure of each context and collection: an interaction is a finished episode, not a retrieval. */
function firstOfContexts<Exposure extends { readonly shared: QValueShared; readonly context: string }>(
  exposures: readonly Exposure[],
): Exposure[] {
  return exposures.filter(
    (exposure, i) =>
      exposures.findIndex(({ shared, context }) => shared === exposure.shared && context === exposure.context) === i,
  );
}

const REWARD: FieldRule = between(-1, 1);
const REWARDS: FieldRules<QValueRewards> = { used: REWARD, notUsed: REWARD, failed: REWARD };
const OPTIONS: FieldRules<QValueOptions> = {
  learningRate: RATE,
  decayFactor: RATE,
  warmThreshold: whole(0),
  alphaWarm: UNIT,
  initialQ: UNIT,
  overFetch: whole(1),
  rewards: true,
};

function resolve(options: QValueOptions): QValueSettings {
  const { rewards, ...settings } = resolveOptions("qValue", options, Q_VALUE_DEFAULTS, OPTIONS);
  return { ...settings, rewards: resolveOptions("The rewards of qValue", rewards, Q_VALUE_DEFAULTS.rewards, REWARDS) };
}

/** `q ← q + rate · (r − q)`, kept in [0, 1]. */
export function updatedQ(q: number, reward: number, rate: number): number {
  return clamp(q + rate * (reward - q), 0, 1);
}

/**
 * `q · factor^days` since the last retrieval of the memory. It is computed at each read from the stored value and time, so the
 * number of reads does not matter. Negative times decay nothing.
 *
 * @param lastAccessed Unix ms, NaN for never (no decay)
 */
export function decayedQ(q: number, lastAccessed: number, now: number, factor: number): number {
  const days = daysBetween(lastAccessed, now);
  return days > 0 ? q * factor ** days : q;
}

/**
 * Remainder of an earlier change after later updates: `change · (1 − rate)^later`. Exact when the later ones had the same rate
 * and none was clipped.
 *
 * @param later updates since the change, at least 0
 */
export function leftOf(change: number, rate: number, later: number): number {
  return change * (1 - rate) ** Math.max(0, later);
}

/** One memory. State files use the seed's names (`q_value`, …); their unknown keys are kept. */
export interface QValueState {
  q: number;
  accessCount: number;
  successCount: number;
  failureCount: number;
  /** Unix ms, NaN for never. */
  lastAccessed: number;
  /** Number of updates of q, needed to take one back after later ones. */
  updates: number;
  unknown: Record<string, unknown>;
}

/** Finished episodes per context. */
export interface QValueShared {
  contexts: Record<string, number>;
}

const MEMORY_RULES: Readonly<Record<string, FieldRule>> = {
  q: UNIT,
  accessCount: NOT_NEGATIVE,
  successCount: NOT_NEGATIVE,
  failureCount: NOT_NEGATIVE,
  lastAccessed: TIME,
  updates: NOT_NEGATIVE,
  unknown: [(value) => typeof value === "object" && value !== null, "an object"],
};
const SHARED_RULES: Readonly<Record<string, FieldRule>> = {
  contexts: [
    (value) =>
      typeof value === "object" && value !== null && Object.values(value).every((count) => NOT_NEGATIVE[0](count)),
    "an object of counts",
  ],
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const toBytes = (value: unknown, room: number): Uint8Array => {
  const json = encoder.encode(JSON.stringify(value));
  const bytes = new Uint8Array(room + json.length);
  bytes.set(json, room);
  return bytes;
};
const fromBytes = (bytes: Uint8Array): Record<string, unknown> => JSON.parse(decoder.decode(bytes));

/** JSON, as in the seed's own format; it keeps doubles exactly. */
function memoryCodec(initialQ: number): StateCodec<QValueState> {
  return {
    empty: () => ({
      q: initialQ,
      accessCount: 0,
      successCount: 0,
      failureCount: 0,
      lastAccessed: Number.NaN,
      updates: 0,
      unknown: {},
    }),
    decode(bytes) {
      const { lastAccessed, ...rest } = fromBytes(bytes) as unknown as Omit<QValueState, "lastAccessed"> & {
        lastAccessed: number | null;
      };
      return { ...rest, lastAccessed: lastAccessed ?? Number.NaN };
    },
    encode: toBytes,
    problem: (state) => problemOf(state, MEMORY_RULES),
  };
}

const sharedCodec: StateCodec<QValueShared> = {
  // The application chooses the names of contexts: with a null prototype `__proto__` is an ordinary key.
  empty: () => ({ contexts: Object.create(null) as Record<string, number> }),
  decode: (bytes) => ({
    contexts: Object.assign(Object.create(null), fromBytes(bytes).contexts) as Record<string, number>,
  }),
  encode: ({ contexts }, room) => toBytes({ contexts: Object.fromEntries(Object.entries(contexts)) }, room),
  problem: (state) => problemOf(state, SHARED_RULES),
};
