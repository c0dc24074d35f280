import { ByteReader, ByteWriter } from "./bytes.js";
import type { ContextCounts } from "./context-counts.js";
import { OUTCOME_TIERS, type OutcomeTier } from "./events.js";
import type { HoldoutCounts } from "./holdout-counts.js";
import { assertLayout, readable } from "./unreadable.js";

/** Counts that most namespaces lack. */
interface RareCounts {
  /** Revocations in the ledger; absent before there was one. */
  revocations?: number;
  /** Imports in the ledger, each counted in `taught` as well; absent before there was one. */
  imports?: number;
  /** When memories were pruned last, Unix ms; absent before they were. */
  lastPruned?: number;
  /** Failures of tier `completed`; absent before there was one. */
  endedBadly?: number;
  /** Credits of a source to a memory that were beyond its cap; absent before there was one. */
  capped?: number;
  /** Episodes by explicit context; absent before there was one. */
  contexts?: ContextCounts[];
  /** Rewards of the two arms, one element per share of episodes that was held out; absent before there was one. */
  holdout?: HoldoutCounts[];
  /** The same by share of episodes that were shown no memory. */
  memoryOff?: HoldoutCounts[];
}

/** Counters of a namespace, folded like everything else. */
export interface StatsRecord extends RareCounts {
  /** Whose arithmetic the namespace's states follow. */
  readonly learner: string;
  episodes: number;
  /** Suspended at this moment. */
  suspended: number;
  abandoned: number;
  /** Recorded outcomes by tier, whether or not they counted. */
  readonly outcomes: Record<OutcomeTier, number>;
  /** Outcomes that named no reward. */
  unknown: number;
  /** Outcomes that replaced an earlier one. */
  corrections: number;
  /** Episodes that taught something, and imports: the namespace's evidence. */
  taught: number;
}

/** First byte of the record: it changes with the counters. */
const LAYOUT = 1;

/** Counts of every namespace, in the order of their bytes; the outcomes of each tier follow. */
const COUNTED = ["episodes", "suspended", "abandoned", "unknown", "corrections", "taught"] as const;

export function emptyStats(learner: string): StatsRecord {
  return {
    learner,
    episodes: 0,
    suspended: 0,
    abandoned: 0,
    outcomes: { verified: 0, user: 0, observed: 0, "self-reported": 0, completed: 0 },
    unknown: 0,
    corrections: 0,
    taught: 0,
  };
}

/** @throws INVALID_STATE */
export function decodeStats(bytes: Uint8Array): StatsRecord {
  const reader = new ByteReader(bytes);
  assertLayout(reader.u8(), LAYOUT, "namespace state");
  const stats = emptyStats(reader.text());
  for (const count of COUNTED) stats[count] = reader.f64();
  for (const tier of OUTCOME_TIERS) stats.outcomes[tier] = reader.f64();
  const rare = reader.text();
  return rare === "" ? stats : { ...stats, ...readable(() => JSON.parse(rare) as RareCounts) };
}

/** The counters as float64, then the rarer ones as JSON; empty without those. Little-endian. */
export function encodeStats(stats: StatsRecord): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(LAYOUT);
  writer.text(stats.learner);
  for (const count of COUNTED) writer.f64(stats[count]);
  for (const tier of OUTCOME_TIERS) writer.f64(stats.outcomes[tier]);
  const { revocations, imports, lastPruned, endedBadly, capped, contexts, holdout, memoryOff } = stats;
  const rare = JSON.stringify({ revocations, imports, lastPruned, endedBadly, capped, contexts, holdout, memoryOff });
  writer.text(rare === "{}" ? "" : rare);
  return writer.finish();
}
