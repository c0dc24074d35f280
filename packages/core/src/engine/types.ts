import type { Learner } from "../learners/learner.js";
import type {
  CopyEvent,
  EpisodeState,
  ForgetEvent,
  MoveEvent,
  OutcomeEvent,
  OutcomeTier,
  PruneEvent,
  RevisionEvent,
  RevokeEvent,
} from "../ledger/events.js";
import type { UsedMemory } from "../ledger/used.js";
import type { EngineHealth, HistoryOptions, MemoriesOptions, MemoryView, NamespaceStatus } from "./reports.js";

export type { UsedMemory, UseFinder } from "../ledger/used.js";

/** One item that the host's retrieval found. */
export interface Candidate {
  /** The memory's id: not empty, at most 512 UTF-16 units, well-formed. The same id twice is legal. */
  readonly id: string;
  /** Higher is better, finite; any affine scale, the same for every request of a collection. */
  readonly similarity: number;
  /** The memory's text. Lends its words to a request that is given as a text; only its hash is kept, to notice edits. */
  readonly text?: string | undefined;
  /**
   * A few words by which a person recognises the memory in reports, well-formed, at most 80 UTF-16 units. Kept in the ledger when the
   * memory is shown; the latest one counts. @default none
   */
  readonly label?: string | undefined;
  /**
   * True for a memory that an agent wrote, or an imported one: rewards lift it by at most a quarter of a standard deviation, and never
   * past a verified memory, until three verified successes have confirmed it. Failures count in full. @default false
   */
  readonly unverified?: boolean | undefined;
  /**
   * The subject of the memory, if the host knows it: a tool, an intent, a file, a topic. Memories of one group are for the same
   * requests. `grouped` of `@qavr/learners` learns from it; other learners ignore it. At most 512 UTF-16 units. @default none
   */
  readonly group?: string | undefined;
}

export interface RankRequest {
  /** Scope of learning. @default "default" */
  readonly namespace?: string | undefined;
  /** Which body of memories the ids belong to; one embedding space each. At most 256 UTF-16 units. @default "default" */
  readonly collection?: string | undefined;
  /**
   * The kind of task. What a memory earns in one context counts fully there and partly in others. Name it when the same
   * words need different memories in different tasks; where they need the same ones, it only slows learning. It takes effect with a `text`,
   * which may be empty, or a `vector`. @default "default"
   */
  readonly context?: string | undefined;
  /** The request's text; hashed into a vector when `vector` is absent, smoothed by the candidates and the texts of the nearest ones. Never stored. */
  readonly text?: string | undefined;
  /** The request's embedding, any length ≥ 1, finite. Projected to at most 512 dims and quantised first. */
  readonly vector?: ArrayLike<number> | undefined;
  /** Name of the vector's space (model). Give it when the model may change. @default "host" for `vector`, "hashed" for `text` */
  readonly space?: string | undefined;
  /** Best first, as the host returned them. */
  readonly candidates: readonly Candidate[];
  /** How many to return; more than there are is legal. */
  readonly topK: number;
  /** An open episode to add this exposure to. @default a new one */
  readonly episode?: string | undefined;
  /** Run, trace or thread ids under which the episode can be found again. */
  readonly aliases?: readonly string[] | undefined;
  /** False ranks without opening or recording anything (evaluation, previews). @default true */
  readonly record?: boolean | undefined;
  /** With `record: false`: how many to return where the caller shows them in pages of `topK`, which keeps their order. @default topK */
  readonly returned?: number | undefined;
  /** True records the host's order as shown without reordering it (MMR and other selections that must stand). @default false */
  readonly keepOrder?: boolean | undefined;
  /** True for candidates that a run needs, such as its tools: shown also where memory is off (`EngineOptions.memoryOff`). @default false */
  readonly required?: boolean | undefined;
}

/** A ranked memory. `similarity + learned + bonus + overlap + unverified = score`. */
export interface RankedItem {
  /** Its place in the array `RankRequest.candidates`, from 0. */
  readonly index: number;
  /** Its rank in the list, from 1. */
  readonly rank: number;
  readonly id: string;
  /** Short name for prompts and tools: `m1`, `m2`, … unique in its episode. Empty for an unrecorded ranking. */
  readonly handle: string;
  readonly score: number;
  readonly similarity: number;
  /** The effect of outcomes, in units of similarity: bounded, times the gate. */
  readonly learned: number;
  /** ≥ 0. Exploration: given to a memory about which little is known, to try it. */
  readonly bonus: number;
  /** ≤ 0. Taken from a memory that is like one above it, so that their effects can be told apart. */
  readonly overlap: number;
  /** ≤ 0. Held back until verified successes have confirmed it (`Candidate.unverified`). */
  readonly unverified: number;
  /** The learner's estimate for this request, in its own unit. */
  readonly utility: number;
  /** Effective number of outcomes behind the utility; 0 for none. */
  readonly evidence: number;
}

export interface Ranking {
  /** Episode id; empty for an unrecorded ranking. */
  readonly episode: string;
  /** Place of this exposure inside its episode, 0-based; −1 for an unrecorded ranking. */
  readonly exposure: number;
  /** The first `topK`, best first. */
  readonly items: readonly RankedItem[];
  readonly learner: string;
  /** How far the learner trusts itself, 0..1. */
  readonly gate: number;
  /** `host`: the host's order. `learned`: evidence moved or could have moved it. */
  readonly order: "host" | "learned";
  /** True when the episode is held out (`EngineOptions.holdout`): shown in the host's order, to measure the worth of learning. */
  readonly heldOut?: boolean;
  /** True when the episode is shown no memory (`EngineOptions.memoryOff`), to measure the worth of memory itself. */
  readonly memoryOff?: boolean;
  /** Origin of the request vector. */
  readonly vectorSource: "host" | "hashed" | "none";
  /** A note of the learner about these scores. */
  readonly note?: string;
  /** Set when learning had to be left out; the items are then the host's first `topK`. */
  readonly degraded?: { readonly code: string; readonly message: string };
}

/** A report about how an episode ended. */
export interface OutcomeInput {
  /** In [0, 1]; `true` is 1, `false` is 0; null or absent: unknown (votes still count). */
  readonly reward?: number | boolean | null | undefined;
  /**
   * In (0, 1]. Success of tier `completed` teaches nothing until a run in the namespace has failed by itself: with tier `observed`, or
   * `completed`.
   * @default 0.3 for the tier `completed`, else 1
   */
  readonly weight?: number | undefined;
  /** How good the evidence is. @default "user" */
  readonly tier?: OutcomeTier | undefined;
  /** Name of the reporter: a channel or a person, for auditing and revocation. @default the tier */
  readonly source?: string | undefined;
  /** Ids (or handles) of memories that helped. Of one tier, the last vote on a memory counts; votes of a better tier replace all of a weaker one. */
  readonly helpful?: readonly string[] | undefined;
  /** Ids (or handles) of memories that misled. */
  readonly harmful?: readonly string[] | undefined;
  /** Takes back the earlier votes on these memories (ids or handles). */
  readonly neutral?: readonly string[] | undefined;
  /**
   * Ids (or handles) of the memories that the run used; absent: unknown. A string means that the application found it, and that the
   * memories left out were not used; `{ id, by }` names another finder.
   */
  readonly used?: readonly (string | UsedMemory)[] | undefined;
  /** Why, in one sentence, for people who read the ledger. At most 2,000 UTF-16 units. */
  readonly note?: string | undefined;
  /** Same key and same content: recorded once. Same key, other content: IDEMPOTENCY_CONFLICT. @default a new key */
  readonly idempotencyKey?: string | undefined;
}

export interface OutcomeReceipt {
  /**
   * `queued`: the store is out of reach, and the outcome is safe in the outbox. `ignored`: nothing was written, since the engine is
   * disabled, or an adapter knows that the run was shown no memory.
   */
  readonly status: "committed" | "duplicate" | "queued" | "ignored";
  readonly episode: string;
  /** Place in the namespace's ledger; 0 while it has none. */
  readonly seq: number;
}

export interface EndOptions {
  readonly namespace?: string | undefined;
  /**
   * Exposures (by `Ranking.exposure`) whose part of the run failed and was replaced by another: recorded, not credited.
   * Exposures that a report or a suspension recorded before keep their credit.
   */
  readonly uncredited?: readonly number[] | undefined;
}

/** The facts of an episode: of open ones from memory, of recorded ones from the ledger. */
export interface EpisodeView {
  readonly episode: string;
  readonly namespace: string;
  readonly state: "open" | "suspended" | "ended" | "abandoned";
  readonly exposures: readonly ExposureView[];
  /** True when some of its exposures lie before the ledger's checkpoint: their memories are no longer known. */
  readonly compacted?: boolean;
  /** The memories that the run used, and how that is known; absent while it is unknown. */
  readonly used?: readonly UsedMemory[];
  /** The votes that count, each memory once; absent without any. */
  readonly votes?: readonly {
    readonly id: string;
    readonly vote: "helpful" | "harmful";
    readonly tier: OutcomeTier;
    readonly source: string;
  }[];
  /** The outcome that counts, if any. */
  readonly outcome?: {
    readonly reward: number | null;
    readonly tier: OutcomeTier;
    readonly source: string;
    /** Trust in its source when it was last weighed, in [0, 1]; absent if it counts in full. */
    readonly trust?: number;
    readonly note?: string;
  };
}

export interface ExposureView {
  /** When it was ranked, Unix ms. */
  readonly at: number;
  readonly collection: string;
  readonly context: string;
  readonly learner: string;
  readonly gate: number;
  /** Similarity per unit of the learner's own scale; absent where it has none, or nothing learned took part. */
  readonly scale?: number;
  readonly vectorSource: "host" | "hashed" | "none";
  readonly credited: boolean;
  /** The order that was shown. */
  readonly order: "host" | "learned";
  /** True when the episode was held out: shown in the host's order. */
  readonly heldOut?: boolean;
  /** True when the episode was shown no memory. */
  readonly memoryOff?: boolean;
  /** The memories shown, by rank. */
  readonly items: readonly ExplainedItem[];
  /** The other recorded candidates (`EngineOptions.recordedCandidates`), by rank. */
  readonly notShown: readonly NotShown[];
}

/** A memory that was shown. Its score is the sum of its terms, as in {@link RankedItem}; each is kept as a float32. */
export interface ExplainedItem extends Omit<RankedItem, "index"> {
  /** Its `Candidate.label`, absent where it had none. */
  readonly label?: string;
  /** Its rank in the host's order, from 1: its place without learning. */
  readonly hostRank: number;
}

/** A candidate that was not shown. `similarity + shift = score`. */
export interface NotShown extends Pick<ExplainedItem, "id" | "label" | "rank" | "hostRank" | "similarity" | "score"> {
  /** All that was added to the similarity: the sum of the terms. */
  readonly shift: number;
  /**
   * - `outranked`: its rank is below the last one shown
   * - `dropped`: its rank was in the list; a later stage or a budget dropped it, or it was forgotten during the run
   * - `held-out`: its score would have put it into the list; the episode was held out, and kept the host's order
   * - `order-kept`: likewise; the request wanted the host's order (`RankRequest.keepOrder`)
   * - `memory-off`: the episode was shown no memory (`EngineOptions.memoryOff`)
   */
  readonly reason: "outranked" | "dropped" | "held-out" | "order-kept" | "memory-off";
}

/** An entry of the ledger. Outcomes that were revoked are among them: the `revoke` event after them says which. */
export type HistoryEvent = {
  /** Place in the namespace's ledger. */
  readonly seq: number;
  /** When it was recorded, Unix ms. */
  readonly at: number;
} & (
  | {
      readonly type: "exposure";
      readonly episode: string;
      /** State of the episode. */
      readonly state: EpisodeState;
      readonly aliases: readonly string[];
      /** Those since the episode's last entry. */
      readonly exposures: readonly ExposureView[];
    }
  | OutcomeEvent
  | ForgetEvent
  | RevisionEvent
  | CopyEvent
  | PruneEvent
  | { readonly type: "import"; readonly learner: string; readonly collection: string; readonly ids: readonly string[] }
  | RevokeEvent
  | MoveEvent
);

export interface Engine {
  readonly learner: Learner;
  readonly enabled: boolean;

  /**
   * How many candidates to ask the host for: exactly `topK` while there is nothing to learn from. Never rejects for store failures.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
   */
  fetchSize(request: {
    readonly namespace?: string | undefined;
    readonly topK: number;
    readonly fetchK?: number | undefined;
  }): Promise<number>;

  /**
   * Orders candidates and (unless `record: false`) notes the exposure in an open episode.
   * A failing store degrades to the host's order.
   * @throws INVALID_ARGUMENT, INVALID_ID, INVALID_VECTOR, INVALID_SIMILARITY, LIMIT_EXCEEDED, UNKNOWN_EPISODE
   */
  rank(request: RankRequest): Promise<Ranking>;

  /**
   * Opens an episode before its first exposure and returns its id.
   *
   * @param options.lastHandle Number of the last handle that is still in sight of the reader (`m7` of an earlier turn): the
   * episode's handles go on after it. @default 0
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
   */
  open(options?: {
    readonly namespace?: string | undefined;
    readonly aliases?: readonly string[] | undefined;
    readonly lastHandle?: number | undefined;
  }): string;

  /** Adds aliases to an open episode. @throws UNKNOWN_EPISODE, INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  alias(episode: string, aliases: readonly string[]): void;

  /**
   * The exposure's final list: only these ids were shown after all (a later stage dropped the others). An exposure that the episode does
   * not have, or that a report or a suspension has recorded, changes nothing.
   * @throws UNKNOWN_EPISODE, INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
   */
  narrow(episode: string, exposure: number, ids: readonly string[]): void;

  /**
   * Ends an open episode, with or without an outcome; resolves after the durable commit (undefined: no outcome was given, or nothing was
   * shown and no report had come). With an idempotency key that has an entry, the answer is the first receipt, in any state of the
   * episode.
   * @throws as {@link Engine.report}, except OUTCOME_TOO_LATE; UNKNOWN_EPISODE also for one that is recorded and not open
   */
  end(episode: string, outcome?: OutcomeInput, options?: EndOptions): Promise<OutcomeReceipt | undefined>;

  /**
   * Records an outcome for an episode, open or recorded, by its id or an alias. An open one stays open. With an idempotency key that has
   * an entry, the answer is the first receipt, in any state of the episode.
   * @throws UNKNOWN_EPISODE, NOT_SHOWN, INVALID_ARGUMENT, INVALID_ID, INVALID_REWARD, LIMIT_EXCEEDED, OUTCOME_TOO_LATE,
   * IDEMPOTENCY_CONFLICT, LEARNER_MISMATCH, OUTBOX_FULL, and the store's codes
   */
  report(
    reference: string,
    outcome: OutcomeInput,
    options?: { readonly namespace?: string | undefined },
  ): Promise<OutcomeReceipt>;

  /**
   * Makes an open episode durable and waits for {@link Engine.resume} under `alias`, in any process.
   * @throws UNKNOWN_EPISODE, INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, LEARNER_MISMATCH, and the store's codes
   */
  suspend(episode: string, options: { readonly alias: string }): Promise<void>;

  /**
   * Reopens the suspended episode of an alias; undefined if there is none, or if it accepts no outcome any more. Where several processes
   * resume it, it belongs to the first that records something of it: `end`, `report` and `suspend` reject with UNKNOWN_EPISODE in the others.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and the store's codes: it waits no longer than a ranking does
   */
  resume(alias: string, options?: { readonly namespace?: string | undefined }): Promise<string | undefined>;

  /**
   * An episode by id or alias with the explanation of every item shown; undefined if unknown.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, INVALID_STATE, and the store's codes
   */
  explain(reference: string, options?: { readonly namespace?: string | undefined }): Promise<EpisodeView | undefined>;

  /** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, INVALID_STATE, and the store's codes */
  status(options?: { readonly namespace?: string | undefined }): Promise<NamespaceStatus>;

  /**
   * Facts about memories: those of `ids` in that order (zeros for one that was never shown), or a page of a collection. `next` is
   * absent after the last page. `unread` is the number of memories that a page by utility left out: thousands have nearly the same.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, INVALID_STATE, LEARNER_MISMATCH, and the store's codes
   */
  memories(
    options?: MemoriesOptions,
  ): Promise<{ readonly memories: readonly MemoryView[]; readonly next?: string; readonly unread?: number }>;

  /**
   * A page of the ledger, oldest first. A compacted ledger begins after its checkpoint. `next` is absent after the last page.
   * @throws INVALID_ARGUMENT, INVALID_ID, INVALID_STATE, and the store's codes
   */
  history(options?: HistoryOptions): Promise<{ readonly events: readonly HistoryEvent[]; readonly next?: number }>;

  /** Local counters; does no I/O. */
  health(): EngineHealth;

  /** Waits for everything under way and records episodes that are past their time. */
  flush(): Promise<void>;

  /** Records open episodes as abandoned and closes the store. */
  close(): Promise<void>;
}
