import type { Uses } from "./used.js";

/** Qualities of evidence, best first. The best tier reported about an episode counts, in either order of arrival. */
export const OUTCOME_TIERS = ["verified", "user", "observed", "self-reported", "completed"] as const;

/**
 * - `verified`: a checker, an evaluator, a scorer
 * - `user`: a person
 * - `observed`: the run threw
 * - `self-reported`: the agent's own report
 * - `completed`: the run merely ended
 */
export type OutcomeTier = (typeof OUTCOME_TIERS)[number];

/** Tiers whose sources claim something that better evidence can audit. The others are observations: they count in full. */
export const AUDITED_TIERS: readonly OutcomeTier[] = ["user", "self-reported", "completed"];
/** Tiers of reporters who may want to move a ranking: the credit of one source can be capped. */
export const CAPPED_TIERS: readonly OutcomeTier[] = ["user", "self-reported"];

/** States of an episode at the time of an exposure entry. */
export const EPISODE_STATES = ["open", "suspended", "ended", "abandoned"] as const;
export type EpisodeState = (typeof EPISODE_STATES)[number];

export const VECTOR_SOURCES = ["none", "host", "hashed"] as const;
export type VectorSource = (typeof VECTOR_SOURCES)[number];

export const EDIT_POLICIES = ["keep", "discount", "reset"] as const;
/** The effect of a changed memory text on its evidence. */
export type EditPolicy = (typeof EDIT_POLICIES)[number];

/** One memory as it was ranked into the list, with the terms that put it there. */
export interface ShownItem {
  /** Place among the recorded candidates, from 0. */
  readonly candidate: number;
  /** Place among all candidates, from 0. */
  readonly index: number;
  /** Rank in the list, from 1. */
  readonly rank: number;
  /** Number of its handle in the episode: 1 for `m1`. */
  readonly handle: number;
  /** Fingerprint of the memory's text, 0 when the host gave none. */
  readonly contentHash: number;
  /** A few words for people, empty when the host gave none. */
  readonly label: string;
  /** `score = similarity + learned + bonus + overlap + unverified`. */
  readonly learned: number;
  readonly bonus: number;
  readonly overlap: number;
  readonly unverified: number;
  readonly utility: number;
  readonly evidence: number;
}

/** How an episode was drawn while a share of them was served otherwise. Lift and propensity weights need it. */
export interface HoldoutDraw {
  /** The share when it was drawn, float32 in (0, 1]: the chance of `held`. */
  readonly share: number;
  /** Served in the host's order, without learning; for the draw of memory: shown none. */
  readonly held: boolean;
}

/** The draw of one exposure. With the option `holdout`, all exposures of an episode have the same share and the same `held`. */
export interface ExposureDraw extends HoldoutDraw {
  /** True when the two orders would have shown different memories. */
  readonly differs: boolean;
  /**
   * Success that the learner expected of its own list beyond that of the host's, float32 in [−1, 1]. 0 where it named none, and where the
   * request keeps the host's order.
   */
  readonly advantage: number;
}

/** The draws of an episode; undefined for a share of 0. */
export interface EpisodeDraws {
  /** Of the episodes that are shown memories. */
  readonly holdout: HoldoutDraw | undefined;
  /** `held`: shown no memory. */
  readonly memoryOff: HoldoutDraw | undefined;
}

/** One retrieval: the candidates, the memories shown, and the request. */
export interface RecordedExposure {
  readonly collection: string;
  readonly context: string;
  /** Name of the request vector's space, and the length it had there. */
  readonly space: string;
  readonly length: number;
  readonly vectorSource: VectorSource;
  /** Quantised request vector, empty for none. */
  readonly vector: Int8Array;
  readonly learner: string;
  readonly gate: number;
  /** False when this part of the run failed and another part replaced it. */
  readonly credited: boolean;
  /** Undefined when nothing was held out. */
  readonly holdout: ExposureDraw | undefined;
  /** Undefined when every episode was shown memories, and for what a run needs. The same for all other exposures of an episode. */
  readonly memoryOff: HoldoutDraw | undefined;
  /** Unix ms. */
  readonly at: number;
  readonly candidates: readonly { readonly id: string; readonly similarity: number }[];
  /** Number of each candidate's group; empty where no candidate had one. */
  readonly groups: readonly number[];
  readonly shown: readonly ShownItem[];
  /** Ranked into the list, and dropped by a later stage. */
  readonly dropped: readonly ShownItem[];
  /** Score minus similarity of the other candidates, in their order; empty where nothing learned took part. */
  readonly shifts: readonly number[];
  /** True when the list is in the order of the scores, false when it is in the host's. */
  readonly reordered: boolean;
  /** Number of leading candidates that competed; the rest followed in the host's order. */
  readonly movable: number;
  /** Similarity per unit of the learner's own scale, 0 where it has none. */
  readonly scale: number;
}

/** Ledger entry `exposure`: an episode's exposures since its last entry, and where the episode stands. */
export interface ExposureEvent {
  readonly type: "exposure";
  readonly episode: string;
  readonly state: EpisodeState;
  readonly aliases: readonly string[];
  /** Under which name a suspended episode waits. */
  readonly suspendedAs: string | undefined;
  /**
   * Of a resumed episode, the number of exposures before these; 0 for others. The ledger has another number where a second process has
   * resumed the episode, too, and was first to record something.
   */
  readonly continues: number;
  readonly onEdit: EditPolicy;
  readonly exposures: readonly RecordedExposure[];
}

/** How much one source may credit one memory. */
export interface SourceCap {
  /** Sum of outcome weights per window, above 0. */
  readonly weight: number;
  /** Length of a window, ms, above 0. Windows follow each other from the Unix epoch on. */
  readonly window: number;
}

/** The rules under which an outcome was recorded: a replay under other options gives the same state. */
export interface OutcomeRules {
  /** True when the outcome counts by the trust in its source. */
  readonly audited: boolean;
  readonly cap: SourceCap | undefined;
}

/** Ledger entry `outcome`: one source's evidence about an episode. Folding decides whether it counts, and takes back the outcome that it replaces. */
export interface OutcomeEvent {
  readonly type: "outcome";
  readonly episode: string;
  /** In [0, 1], null for unknown. */
  readonly reward: number | null;
  readonly weight: number;
  readonly tier: OutcomeTier;
  readonly source: string;
  readonly helpful: readonly string[];
  readonly harmful: readonly string[];
  /** Memories whose earlier vote is taken back. */
  readonly neutral: readonly string[];
  readonly used: Uses;
  /** The reason in the reporter's words; empty for none. */
  readonly note: string;
  /** The rules of the engine's governance when it came in; undefined without governance. */
  readonly rules: OutcomeRules | undefined;
}

/** Ledger entry `forget`: these ids start cold; outcomes of episodes before this entry no longer reach them. */
export interface ForgetEvent {
  readonly type: "forget";
  readonly collection: string;
  readonly ids: readonly string[];
}

/** Ledger entry `revision`: the texts of these ids have changed, to texts that no exposure has shown yet. */
export interface RevisionEvent {
  readonly type: "revision";
  readonly collection: string;
  readonly onEdit: EditPolicy;
  readonly ids: readonly string[];
}

/** Ledger entry `copy`: memories start with the evidence of others. Later outcomes of the one do not reach the other. */
export interface CopyEvent {
  readonly type: "copy";
  readonly collection: string;
  readonly memories: readonly { readonly from: string; readonly to: string }[];
}

/** Ledger entry `prune`: memories that their collection has archived for their votes. Teaches nothing. */
export interface PruneEvent {
  readonly type: "prune";
  readonly collection: string;
  readonly ids: readonly string[];
}

/** Ledger entry `import`: learned state from elsewhere, as the learner's own bytes. */
export interface ImportEvent {
  readonly type: "import";
  readonly learner: string;
  readonly collection: string;
  /** Empty: the collection's shared state stays. */
  readonly shared: Uint8Array;
  readonly memories: readonly { readonly id: string; readonly state: Uint8Array }[];
}

/**
 * Ledger entry `revoke`: the outcomes before it that it describes do not count. They stay in the ledger; every fold leaves them
 * out. Conditions that are named all hold; ranges include their ends.
 */
export interface RevokeEvent {
  readonly type: "revoke";
  /** Undefined: of any source. */
  readonly source: string | undefined;
  /** When they were reported, Unix ms; infinite where there is no limit. */
  readonly from: number;
  readonly to: number;
  /** Their places in the ledger; infinite where there is no limit. */
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Ledger entry `move`: the namespace's later entries are in this store of a routed store. Teaches nothing. */
export interface MoveEvent {
  readonly type: "move";
  /** The store's name. */
  readonly to: string;
}

export type LedgerEvent =
  | ExposureEvent
  | OutcomeEvent
  | ForgetEvent
  | RevisionEvent
  | CopyEvent
  | PruneEvent
  | ImportEvent
  | RevokeEvent
  | MoveEvent;
