/**
 * The learner contract. A learner is pure arithmetic over states that the engine keeps: it has no clock, no random numbers and no
 * store. Drafts passed to `observe`, `learn`, `unlearn` and `discount` are private copies that it may change in place. The states
 * passed to `score` are shared and must not be changed.
 */

/** Encoding of a state as bytes. `decode` may keep a view of the bytes; the caller copies them first if it wants a draft. */
export interface StateCodec<State> {
  /** A state without any evidence. */
  empty(): State;
  /** `bytes` start at a multiple of 8 in their buffer. Never empty: an empty encoding is read back as `empty()`. */
  decode(bytes: Uint8Array): State;
  /**
   * The state's bytes behind `room` bytes (a multiple of 8) that the caller fills; exactly `room` bytes for an empty state. It may
   * reuse the buffer of the state, which the caller does not use afterwards.
   */
  encode(state: State, room: number): Uint8Array;
  /** The fault of an imported state, in a few words; undefined when it may be encoded. Takes any value. */
  problem(state: unknown): string | undefined;
}

/** Memory states laid out for scoring: a candidate costs few cache lines, however many memories there are. */
export interface MemoryTable {
  /** Adds a state, encoded by the learner's `memory` codec and not empty, in `row` or in a new row. Returns the row. */
  put(bytes: Uint8Array, row?: number): number;
  /** Bytes held, approximately. */
  readonly size: number;
}

/** One request and its candidates. All arrays are parallel and in the host's order. */
export interface ScoreRequest<Shared, Table> {
  /** State of the collection, undefined before its first exposure. */
  readonly shared: Shared | undefined;
  readonly table: Table;
  /** Each candidate's row in the table, −1 for a memory without learned state. */
  readonly rows: Int32Array;
  /** Higher is better, any affine scale. Finite. */
  readonly similarities: Float64Array;
  /** Number of each candidate's group; one without a group has a number of its own. Absent where no candidate has one. */
  readonly groups?: Int32Array | undefined;
  /** Unit request vector (Float32Array, the collection's dims), undefined when the request has none in this space. */
  readonly vector: Float32Array | undefined;
  /** Kind of task; `default` when the host names none. */
  readonly context: string;
  /** Number of memories to show. */
  readonly topK: number;
  /** False when nothing will be learned from the ranking. A learner may leave out exploration then; `oar` ranks alike. */
  readonly explores: boolean;
  /** True when the share of episodes in {@link Scores.hostShare} is followed. @default false */
  readonly draws?: boolean;
  /** Unix ms. */
  readonly now: number;
}

/** The learner's scores, parallel to the request's arrays. `score` gives the order; higher is better. */
export interface Scores {
  readonly score: Float64Array;
  /** The estimate behind the shift, in the learner's own unit (oar: logits; qValue: q in [0, 1]). */
  readonly utility: Float64Array;
  /** Effective number of outcomes behind each utility; 0 = never. */
  readonly evidence: Float64Array;
  /** Influence of learning on the order, from how well past predictions came true, 0..1. */
  readonly gate: number;
  /** True when no candidate has evidence that may move the order: the host's order is kept. */
  readonly unchanged: boolean;
  /** Number of leading candidates that compete; the rest follow in the host's order. @default all */
  readonly movable?: number;
  /** The terms of the scores, for explanations. @default all that is not similarity was learned */
  readonly terms?: ScoreTerms;
  /** Note for the explanation, e.g. that similarities were rescaled. */
  readonly note?: string;
  /**
   * Share of episodes, in [0, 1], that should show the host's order, so that the learner sees what its own is worth. Above ½, a ranking
   * that is not recorded shows the host's order, too. @default 0
   */
  readonly hostShare?: number;
  /**
   * Success that the learner expects of the list by `score` beyond that of the host's, in [−1, 1]; asked only when the order is drawn.
   * @default 0
   */
  readonly advantage?: (() => number) | undefined;
}

/** `score = similarity + learned + bonus + overlap`, up to rounding. The arrays are parallel to the scores, in units of similarity. */
export interface ScoreTerms {
  /** The effect of outcomes. */
  readonly learned: Float64Array;
  /** Given to memories about which little is known, to try them. ≥ 0 */
  readonly bonus: Float64Array;
  /** Taken from memories that are like others above them, so that effects can be told apart. ≤ 0 */
  readonly overlap: Float64Array;
  /** Similarity per unit of the learner's own scale. > 0 */
  readonly scale: number;
}

/** One memory that was shown. */
export interface ShownMemory<Memory> {
  readonly id: string;
  /** Draft. The same object when a memory was shown by two exposures. */
  readonly memory: Memory;
  readonly similarity: number;
  /** Relevance weight in [0, 1]; 0 for the weaker of two showings of one memory in an episode. */
  readonly weight: number;
  /** 1 helpful, −1 harmful, 0 no vote on this memory. */
  readonly vote: -1 | 0 | 1;
  /** True when the run used it, false when it did not; undefined when that is unknown. */
  readonly used: boolean | undefined;
  /** Absent where no candidate of the exposure had a group. */
  readonly group?: GroupOfShown | undefined;
}

/** The group of a memory that was shown. */
export interface GroupOfShown {
  /** Equal for memories of one group in one exposure; it says nothing beyond that. */
  readonly number: number;
  /** Probability, by the similarities of all candidates, that the request was about this group. */
  readonly share: number;
}

/** An order that was drawn by chance: the learner's, or the host's. */
export interface Control {
  /** Success that the learner expected of its own list beyond that of the host's, when it ranked. In [−1, 1], not 0. */
  readonly advantage: number;
  /** True when the host's order was shown. */
  readonly held: boolean;
}

/** One retrieval inside an episode. */
export interface LessonExposure<Shared, Memory> {
  /** Draft. The same object for exposures of one collection. */
  readonly shared: Shared;
  /** Unit request vector; undefined without one, and where `direction` has taken its place. */
  readonly vector: Float32Array | undefined;
  /** Direction of the run's first lesson, signed bytes, for a learner that forgets requests. */
  readonly direction?: Int8Array | undefined;
  readonly context: string;
  /** Undefined where no chance decided on the order, or the learner saw no difference. */
  readonly control?: Control | undefined;
  /** Share of the episode's outcome that this exposure carries; they sum to 1. */
  readonly share: number;
  /**
   * True when the outcome has votes, on any memory, or tells which skills of this collection were loaded. Most learners then give a
   * memory without a vote half of its credit.
   */
  readonly voted: boolean;
  readonly shown: readonly ShownMemory<Memory>[];
}

/** A finished episode and its outcome. */
export interface Lesson<Shared, Memory> {
  readonly exposures: readonly LessonExposure<Shared, Memory>[];
  /** In [0, 1], or null when it is unknown (only votes teach then). */
  readonly reward: number | null;
  /** Weight of this kind of evidence times the trust in its source, in (0, 1]. */
  readonly weight: number;
  /** Unix ms of the outcome. */
  readonly at: number;
  /** False when the episode already taught once and this replaces it. */
  readonly first: boolean;
}

/** The additions of one lesson, in the learner's own coefficients: enough to take it back once. Stored with the episode. */
export interface Contribution {
  readonly exposures: readonly {
    /** Direction of the lesson, signed bytes; undefined when the learner needs none. */
    readonly direction: Int8Array | undefined;
    readonly scalars: readonly number[];
    /** Parallel to the exposure's shown memories. */
    readonly memories: readonly (readonly number[])[];
  }[];
}

/** An exposure, before any outcome. */
export interface Observation<Shared, Memory> {
  readonly shared: Shared;
  readonly context: string;
  /** Similarities of all recorded candidates, host order. */
  readonly similarities: Float64Array;
  /** Number of each one's group; absent where no candidate had one. */
  readonly groups?: Int32Array | undefined;
  /** Number of memories shown. */
  readonly shown: number;
  /** Drafts of the memories shown, each once. Decoding them takes time; call it only when they are needed. */
  memories(): readonly Memory[];
  readonly at: number;
}

/** Repeated fits of old runs. */
export interface Revisits<Shared, Memory> {
  /** Number of the last runs that are kept for it. ≥ 1 */
  readonly log: number;
  /** Number of kept runs that are fitted again after each new run, round robin in the ledger's order. ≥ 0 */
  readonly count: number;
  /** Replaces a run's contribution by a new one, in the drafts, and returns it. */
  fit(lesson: Lesson<Shared, Memory>, contribution: Contribution): Contribution;
}

/** Turns outcomes into an order. Its doc comment is its card: formula, parameters, and when it is the wrong choice. */
export interface Learner<Shared = unknown, Memory = unknown, Table extends MemoryTable = MemoryTable> {
  /** Name and version, e.g. `oar@1`. Stored with every state; a change of arithmetic is a new version. */
  readonly id: string;
  /** Number of candidates wanted for `topK`. @default 4·topK, at least 50 */
  fetchK?(topK: number): number;
  readonly shared: StateCodec<Shared>;
  readonly memory: StateCodec<Memory>;
  /** An empty table of this learner's memory states. */
  createTable(): Table;
  score(request: ScoreRequest<Shared, Table>): Scores;
  observe(observation: Observation<Shared, Memory>): void;
  /** Applies a lesson to the drafts and returns its additions. */
  learn(lesson: Lesson<Shared, Memory>): Contribution;
  /**
   * True for a learner without revisits whose lessons need no request vector once they have a direction: a run that has taught keeps the
   * direction alone, and its later lessons go along it. @default false
   */
  readonly forgetsRequests?: boolean;
  /** Given by learners that fit old runs again. Each fit reads and writes the states of its memories. */
  readonly revisits?: Revisits<Shared, Memory>;
  /** Takes back the additions of an earlier lesson on the same exposures. */
  unlearn(lesson: Lesson<Shared, Memory>, contribution: Contribution): void;
  /** The memory's text changed: keep this share of its evidence, in [0, 1]. */
  discount(memory: Memory, keep: number): void;
  /** A few numbers about a memory for `status` and tools; `utility` orders "best" lists. */
  describe(memory: Memory, now: number): { readonly utility: number; readonly evidence: number };
  /** True when learning ranks a context's requests: for `status`. @default from 100 episodes of the context that taught on */
  isWarm?(shared: Shared, context: string): boolean;
  /** A few numbers about a collection for `status`. */
  summarize(shared: Shared): Readonly<Record<string, unknown>>;
}
