import type { OutcomeTier } from "../ledger/events.js";
import type { SourceStatus } from "../ledger/governance.js";

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
    readonly suspended: number;
    readonly abandoned: number;
  };
  /** Outcomes that were recorded, by tier, and how many episodes have taught something. */
  readonly outcomes: Readonly<Record<OutcomeTier, number>>;
  readonly unknownOutcomes: number;
  readonly corrections: number;
  /** Revocations in the ledger; what they took out is in none of the other numbers. */
  readonly revocations: number;
  /** True between a revocation and the states that follow from it: `replay(engine, { write: true })` completes one that was interrupted. */
  readonly rebuildPending: boolean;
  /** When memories were pruned last, Unix ms; absent before they were. */
  readonly lastPruned?: number;
  readonly taught: number;
  /** Kinds of task that requests named: the first 32, in order of appearance. */
  readonly contexts: readonly ContextStatus[];
  /** All further ones together; absent while there are none. */
  readonly otherContexts?: { readonly episodes: number; readonly taught: number };
  /** Credits to a memory that were beyond the cap of their source. */
  readonly cappedCredits: number;
  /** Sources whose claims were compared with better evidence, or that caps bind: at most 100, flagged ones first, then the most audited. */
  readonly sources: readonly SourceStatus[];
  /** Absent before chance has drawn an episode. */
  readonly lift?: LiftReport;
  /** Worth of memory itself: success of the episodes that were shown memories against those shown none. Absent before `memoryOff` drew one. */
  readonly memoryLift?: LiftReport<"shown" | "off">;
  readonly collections: readonly {
    readonly collection: string;
    /** Memories that were shown. */
    readonly memories: number;
    readonly withEvidence: number;
    /** The memories of highest utility, at most ten; of fewer than twenty the better half. */
    readonly best: readonly ExtremeMemory[];
    /** The memories of lowest utility, lowest first, at most ten; none of them is among the best. */
    readonly worst: readonly ExtremeMemory[];
    readonly learner: Readonly<Record<string, unknown>>;
  }[];
}

/** A memory at either end of a collection's utilities. */
export interface ExtremeMemory {
  readonly id: string;
  /** Its `Candidate.label`, absent where it has none. */
  readonly label?: string;
  /** In the learner's own unit. */
  readonly utility: number;
  readonly evidence: number;
}

/** Counts of one kind of task. */
export interface ContextStatus {
  readonly context: string;
  readonly episodes: number;
  /** Episodes of it that have taught something. */
  readonly taught: number;
  /** `warm` where learning ranks its requests: by the learner's own rule, else from 100 episodes that taught on. */
  readonly state: "cold" | "warm";
}

/** A difference in success between two arms, measured on the episodes that chance drew. */
export interface LiftReport<Arm extends string = "learned" | "holdout"> {
  /** Episodes with a reward in either arm that can be compared, and how many each needs before a difference is named. */
  readonly episodes: Readonly<Record<Arm | "needed", number>>;
  /** Mean reward that counts, in [0, 1]; absent with "not enough". */
  readonly success?: Readonly<Record<Arm, number>>;
  /** Success of the first arm minus that of the second, with the ends of its 95 % interval (Welch). */
  readonly lift: "not enough" | { readonly difference: number; readonly low: number; readonly high: number };
}

/** Experience of an engine with its store since it was made. */
export interface EngineHealth {
  /** True while rankings leave a failing store alone. */
  readonly readCircuitOpen: boolean;
  /** True while outcomes go to the outbox without asking the store. */
  readonly writeCircuitOpen: boolean;
  /** Rankings without learning, because the store failed. */
  readonly degradedRankings: number;
  readonly openEpisodes: number;
  /** Episodes that could not be recorded and were let go, to keep memory bounded. */
  readonly lostEpisodes: number;
  /** Outcomes (with their exposures) that wait in the outbox. */
  readonly queued: number;
  /** Outcomes that were refused because neither the store nor the outbox could take them. */
  readonly rejected: number;
}

/** Which memories to read: those of `ids`, or a page of a collection. */
export interface MemoriesOptions {
  /** @default "default" */
  readonly namespace?: string | undefined;
  /** @default "default" */
  readonly collection?: string | undefined;
  /** At most 10,000. */
  readonly ids?: readonly string[] | undefined;
  /**
   * Lowest or highest utility first, without memories that have no evidence; `id` is the store's order of all.
   * @default "id"
   */
  readonly order?: "id" | "lowest" | "highest" | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Records per page, 1 to 1,000. Those of forgotten memories are left out of it. @default 100 */
  readonly limit?: number | undefined;
}

/**
 * Facts about one memory since it was first shown or last forgotten, for every learner. An episode counts once per memory that
 * a credited part of it showed, by its present outcome: a correction moves its count, a revocation removes it.
 */
export interface MemoryView {
  readonly id: string;
  /** Its latest `Candidate.label`, absent where it has none. */
  readonly label?: string;
  /** Exposures that showed it. */
  readonly shown: number;
  /** Unix ms; absent for a memory that was never shown. */
  readonly lastShown?: number;
  /** Episodes that are known to have used it. */
  readonly used: number;
  /** Episodes with a reward of 0.5 or more. */
  readonly successes: number;
  /** Episodes with a reward below 0.5. */
  readonly failures: number;
  /** Episodes in which the vote on it that counts is helpful. */
  readonly helpful: number;
  /** Episodes in which the vote on it that counts is harmful. */
  readonly harmful: number;
  /**
   * Episodes that went well for this memory: by the vote on it, or where the episode used it by the reward. Where both are known, the
   * one of the better tier counts; of equal tiers the vote.
   */
  readonly wins: number;
  /** Episodes that went badly for it, likewise. */
  readonly losses: number;
  /** The learner's estimate, in its own unit; that of a memory without evidence where there is none. */
  readonly utility: number;
  /** Effective number of outcomes behind the utility. */
  readonly evidence: number;
  /** Fingerprint of its text when it was last shown, 32 bits: `contentHash(text)` of `@qavr/core/learner`. Absent while unknown. */
  readonly contentHash?: number;
}

export interface HistoryOptions {
  /** @default "default" */
  readonly namespace?: string | undefined;
  /** Place in the ledger after which to begin: `next` of the page before, or the last `seq` seen. @default 0 */
  readonly after?: number | undefined;
  /** Events per page, 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
}
