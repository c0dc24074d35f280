import type { LedgerDamage } from "../store/store.js";

export interface ReplayReport {
  readonly namespace: string;
  /** Place of the last entry that was compacted away: what came before is taken from the checkpoint. 0 for a whole ledger. */
  readonly checkpoint: number;
  /** Entries that there are or were: the head. */
  readonly entries: number;
  readonly states: number;
  /** States whose stored bytes differ from the fold of the ledger; at most 100 are named. */
  readonly differences: readonly string[];
  readonly identical: boolean;
  /** True when the stored state was replaced. */
  readonly written: boolean;
}

/** Comparison of another learner with a ledger. */
export interface PolicyReport {
  readonly namespace: string;
  /** Id of the learner that was asked about. */
  readonly learner: string;
  /** Place of the last entry that was compacted away: earlier entries are not compared. 0 for a whole ledger. */
  readonly checkpoint: number;
  readonly entries: number;
  /** Episodes and exposures that were compared: those that showed something. */
  readonly episodes: number;
  readonly exposures: number;
  /** Share of exposures for which it would have shown the same memories, and mean share of memories in common; absent without exposures. */
  readonly agreement?: { readonly sameSet: number; readonly overlap: number };
  /** How well its choices would have gone, or why that cannot be said. */
  readonly estimate: PolicyEstimate | { readonly refused: string; readonly effectiveSampleSize: number };
}

/** Success of another learner, from the episodes that `EngineOptions.holdout` drew by chance. */
export interface PolicyEstimate {
  /** Mean reward in [0, 1] of its choices, where they agree with one of the two orders that were drawn from. */
  readonly success: number;
  /** Mean reward of the learned order that was served, on the same kinds of episode. */
  readonly served: number;
  /** `success − served`, with the ends of its 95 % interval. */
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** Episodes that the estimate is worth (Kish); at least 100. */
  readonly effectiveSampleSize: number;
  /** Share of episodes, in [0, 1], that the estimate covers: on the others the learner's choice was never shown. */
  readonly coverage: number;
}

export interface RevocationReport {
  readonly namespace: string;
  /** Place of the last entry that was compacted away: outcomes up to there stay in what was learned. 0 for a whole ledger. */
  readonly checkpoint: number;
  /** Outcomes that counted or waited as evidence until now, and the episodes that they were about. */
  readonly outcomes: number;
  readonly episodes: number;
  /** Memories whose state differs without them. */
  readonly memories: number;
  /** Place of the revocation in the ledger; 0 for a dry run or an empty namespace. */
  readonly seq: number;
  readonly dryRun: boolean;
}

/** The rest of a namespace's ledger. */
export interface CompactionReport {
  readonly namespace: string;
  /** Place of the last entry that is gone. */
  readonly checkpoint: number;
  /** Entries that went now, and those that are left. */
  readonly dropped: number;
  readonly entries: number;
  /** Records of episodes that accept no outcome any more and went with them. */
  readonly episodes: number;
}

/** Result of a move. */
export interface MoveReport {
  readonly namespace: string;
  /** Store that had it, and the one that has it now. */
  readonly from: string;
  readonly to: string;
  /** Place of the last entry when the move was over. */
  readonly entries: number;
}

/** Result of comparing a ledger with its digests, and the states with the ledger. */
export interface VerifyReport {
  /** Nothing is damaged and no state differs. */
  readonly ok: boolean;
  readonly namespaces: number;
  readonly entries: number;
  /** Hexadecimal; stands for all entries in their places. Absent for a store that keeps no digests. */
  readonly digest?: string;
  /** Damage that the store found, of which at most 100 are named. */
  readonly damaged: number;
  readonly damage: readonly LedgerDamage[];
  /** Namespaces whose states do not follow from their ledger, at most 100 with at most 100 states each. */
  readonly differing: readonly { readonly namespace: string; readonly states: readonly string[] }[];
  /** Namespaces whose states could not be compared, and the code of why: damage, or another learner's. At most 100. */
  readonly unchecked: readonly { readonly namespace: string; readonly reason: string }[];
}

/** A memory that a rule of `prune` holds for. */
export interface PrunedMemory {
  readonly id: string;
  /** Its `voteScore`. */
  readonly score: number;
  /** Whole days since it was shown last, or added if it never was; negative for times in the future. */
  readonly unusedDays: number;
  readonly helpful: number;
  readonly harmful: number;
}

/** Result of `prune`. */
export interface PruneReport {
  readonly namespace: string;
  readonly collection: string;
  /** Memories that were looked at. */
  readonly memories: number;
  readonly archived: readonly PrunedMemory[];
  /** Unix ms. */
  readonly at: number;
  /** True when nothing was changed. */
  readonly dryRun: boolean;
}

/** Result of a repair. */
export interface RepairReport {
  /** Namespaces whose states were built again from their ledger. */
  readonly rebuilt: readonly string[];
  /** Verification after the repair. */
  readonly after: VerifyReport;
}
