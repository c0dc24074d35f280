import type { ContextCounts } from "./context-counts.js";
import { OUTCOME_TIERS, type OutcomeTier } from "./events.js";
import type { HoldoutCounts } from "./holdout-counts.js";
import { assertLayout, readable } from "./unreadable.js";

/** Counters of a namespace, folded like everything else. */
export interface StatsRecord {
  /** A change of what is counted is a new one. */
  readonly layout: number;
  /** Whose arithmetic the namespace's states follow. */
  readonly learner: string;
  episodes: number;
  /** Parked at this moment. */
  parked: number;
  abandoned: number;
  /** Recorded outcomes by tier, whether or not they counted. */
  readonly outcomes: Record<OutcomeTier, number>;
  /** Outcomes that named no reward. */
  unknown: number;
  /** Outcomes that replaced an earlier one. */
  corrections: number;
  /** Episodes that taught something: the namespace's evidence. */
  taught: number;
  /** Revocations in the ledger; absent before there was one. */
  revocations?: number;
  /** Credits of a source to a memory that were beyond its cap; absent before there was one. */
  capped?: number;
  /** Episodes by explicit context; absent before there was one. */
  contexts?: ContextCounts[];
  /** Rewards of the two arms, one element per share of episodes that was held out; absent before there was one. */
  holdout?: HoldoutCounts[];
}

const LAYOUT = 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function emptyStats(learner: string): StatsRecord {
  return {
    layout: LAYOUT,
    learner,
    episodes: 0,
    parked: 0,
    abandoned: 0,
    outcomes: Object.fromEntries(OUTCOME_TIERS.map((tier) => [tier, 0])) as Record<OutcomeTier, number>,
    unknown: 0,
    corrections: 0,
    taught: 0,
  };
}

/** @throws INVALID_STATE */
export function decodeStats(bytes: Uint8Array): StatsRecord {
  const stats = readable(() => JSON.parse(decoder.decode(bytes)) as StatsRecord);
  assertLayout(stats?.layout, LAYOUT, "namespace state");
  return stats;
}

export function encodeStats(stats: StatsRecord): Uint8Array {
  return encoder.encode(JSON.stringify(stats));
}
