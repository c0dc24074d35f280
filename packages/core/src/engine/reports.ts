import type { OutcomeTier } from "../ledger/events.js";
import type { LedgerDamage } from "../store/store.js";

export interface NamespaceStatus {
  readonly namespace: string;
  readonly learner: string;
  /** Last place in the ledger. */
  readonly seq: number;
  /** Place of the last entry that was compacted away; 0 for a whole ledger. */
  readonly checkpoint: number;
  readonly episodes: {
    readonly open: number;
    readonly recorded: number;
    readonly parked: number;
    readonly abandoned: number;
  };
  /** Outcomes that were recorded, by tier, and how many episodes have taught something. */
  readonly outcomes: Readonly<Record<OutcomeTier, number>>;
  readonly unknownOutcomes: number;
  readonly corrections: number;
  /** Revocations in the ledger; what they took out is in none of the other numbers. */
  readonly revocations: number;
  /** True between a revocation and the states that follow from it: `replay({ write: true })` completes one that was broken off. */
  readonly rebuildPending: boolean;
  readonly taught: number;
  /** Kinds of task that requests named: the first 32, in order of appearance. */
  readonly contexts: readonly ContextStatus[];
  /** All further ones together; absent while there are none. */
  readonly otherContexts?: { readonly episodes: number; readonly taught: number };
  /** Credits to a memory that were beyond the cap of their source. */
  readonly cappedCredits: number;
  /** Sources whose claims were held against better evidence, or that caps bind: at most 100, flagged ones first, then the most audited. */
  readonly sources: readonly SourceStatus[];
  /** Absent before an episode was drawn with `holdout` above 0. */
  readonly lift?: LiftReport;
  readonly collections: readonly {
    readonly collection: string;
    readonly memories: number;
    readonly withEvidence: number;
    /** Least, lower quartile, median, upper quartile and greatest utility; empty before any evidence. */
    readonly utilityQuartiles: readonly number[];
    /** Highest and lowest utilities, at most ten each. */
    readonly best: readonly { readonly id: string; readonly utility: number; readonly evidence: number }[];
    readonly worst: readonly { readonly id: string; readonly utility: number; readonly evidence: number }[];
    readonly learner: Readonly<Record<string, unknown>>;
  }[];
}

/** What is known of one kind of task. */
export interface ContextStatus {
  readonly context: string;
  readonly episodes: number;
  /** Episodes of it that have taught something. */
  readonly taught: number;
  /** `warm` from 100 episodes that taught on: before that, little of what an order gains from experience is there. */
  readonly state: "cold" | "warm";
}

/**
 * What should make somebody look at a source:
 * - `contradicted`: better evidence mostly said otherwise, in five audits or more
 * - `capped`: it has used up its cap for some memory in the present window
 * - `dominant`: more than 30 % of what capped sources have credited in the present window is its own
 */
export type SourceFlag = "contradicted" | "capped" | "dominant";

/** How well a source's claims agreed with better evidence, and how much it has credited. Kept whatever `EngineOptions.trust` says. */
export interface SourceStatus {
  readonly source: string;
  /** In [0, 1]: how far its outcomes count with `trust: "audited"`. */
  readonly trust: number;
  readonly audits: number;
  /** Recent share of agreement, in [0, 1]; 0.5 before any audit. */
  readonly agreement: number;
  /** Sum of weights that it has credited to memories in the present window, with `EngineOptions.sourceCaps`; 0 without. */
  readonly credited: number;
  readonly flags: readonly SourceFlag[];
}

/** What learning is worth, measured on the episodes that were drawn while a share of them was held out. */
export interface LiftReport {
  /** Episodes with a reward in either arm, and how many each needs before a difference is named. */
  readonly episodes: { readonly learned: number; readonly holdout: number; readonly needed: number };
  /** Mean reward that counts, in [0, 1]; absent with "not enough". */
  readonly success?: { readonly learned: number; readonly holdout: number };
  /** Success in learned order minus success in the host's order, with the ends of its 95 % interval (Welch). */
  readonly lift: "not enough" | { readonly difference: number; readonly low: number; readonly high: number };
}

/** What an engine has seen of its store since it was made. */
export interface EngineHealth {
  /** True while rankings do without a store that keeps failing. */
  readonly readsSuspended: boolean;
  /** True while outcomes go to the spool without asking the store. */
  readonly writesSuspended: boolean;
  /** Rankings that had to do without learning. */
  readonly degradedRankings: number;
  readonly openEpisodes: number;
  /** Episodes that could not be recorded and were let go, to keep memory bounded. */
  readonly lostEpisodes: number;
  /** Outcomes (with their exposures) that wait in the spool. */
  readonly spooled: number;
  /** Outcomes that were refused because neither the store nor the spool could take them. */
  readonly rejected: number;
}

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

/** What another learner would have made of a ledger. */
export interface PolicyReport {
  readonly namespace: string;
  /** Id of the learner that was asked about. */
  readonly learner: string;
  /** Place of the last entry that was compacted away: nobody knows what it would have made of those. 0 for a whole ledger. */
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
  /** Share of episodes, in [0, 1], that the estimate speaks for: on the others it would have shown what nobody showed. */
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

/** What is left of a namespace's ledger. */
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

/** Whether a ledger is as it was written, and the states are what follows from it. */
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
  /** Namespaces whose states are not what follows from their ledger, at most 100 with at most 100 states each. */
  readonly differing: readonly { readonly namespace: string; readonly states: readonly string[] }[];
  /** Namespaces whose states could not be compared, and the code of why: damage, or another learner's. At most 100. */
  readonly unchecked: readonly { readonly namespace: string; readonly reason: string }[];
}

/** What a repair has done, and what it leaves. */
export interface RepairReport {
  /** Namespaces whose states were built again from their ledger. */
  readonly rebuilt: readonly string[];
  /** What verifying finds afterwards. */
  readonly after: VerifyReport;
}
