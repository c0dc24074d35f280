/**
 * The learner contract. A learner is pure arithmetic over states that somebody else keeps: it never sees a clock, a random
 * number or a store. Drafts handed to `observe`, `learn`, `unlearn` and `discount` are private copies that it may change in
 * place; the states handed to `score` are shared and must not be changed.
 */

/** How a state becomes bytes and back. `decode` may keep a view of the bytes; the caller copies them first if it wants a draft. */
export interface StateCodec<State> {
  /** A state without any evidence. */
  empty(): State;
  /** `bytes` start at a multiple of 8 in their buffer. Never empty: an empty encoding is read back as `empty()`. */
  decode(bytes: Uint8Array): State;
  /**
   * The state's bytes behind `room` bytes (a multiple of 8) that the caller fills; exactly `room` bytes for a state worth nothing.
   * May write them where the state's own bytes lie: the state is given up with it.
   */
  encode(state: State, room: number): Uint8Array;
  /** What is wrong with a state from elsewhere, in a few words; undefined when it may be encoded. Must take anything. */
  problem(state: unknown): string | undefined;
}

/** Memory states side by side, laid out for scoring: a candidate costs few cache lines, however many memories there are. */
export interface MemoryTable {
  /** Takes in a state as the learner's `memory` codec encoded it (never empty): into `row`, or into a new one. Returns the row. */
  put(bytes: Uint8Array, row?: number): number;
  /** About how many bytes it holds. */
  readonly size: number;
}

/** One request and its candidates, as the learner may see them. All arrays are parallel and in the host's order. */
export interface ScoreRequest<Shared, Table> {
  /** State of the collection, undefined before its first exposure. */
  readonly shared: Shared | undefined;
  readonly table: Table;
  /** Each candidate's row in the table, −1 for a memory without learned state. */
  readonly rows: Int32Array;
  /** Higher is better, any affine scale. Finite. */
  readonly similarities: Float64Array;
  /** Unit request vector (Float32Array, the collection's dims), undefined when the request has none in this space. */
  readonly vector: Float32Array | undefined;
  /** What kind of task this is; `default` when the host names none. */
  readonly context: string;
  /** How many will be shown. */
  readonly topK: number;
  /** False where nothing will be learned from the ranking: then there is nothing to find out either. */
  readonly explores: boolean;
  /** Unix ms. */
  readonly now: number;
}

/** The learner's verdict on each candidate, parallel to the request's arrays. `score` orders; higher is better. */
export interface Scores {
  readonly score: Float64Array;
  /** The estimate behind the shift, in the learner's own unit (oar: logits; cav: expected advantage; qavr: q in [0,1]). */
  readonly utility: Float64Array;
  /** Effective number of outcomes behind each utility; 0 = never. */
  readonly evidence: Float64Array;
  /** How far past predictions let learning move the order, 0..1. */
  readonly gate: number;
  /** True when no candidate has evidence that may move the order: the host's order stands. */
  readonly unchanged: boolean;
  /** Only the first so many candidates compete; the rest follow in the host's order. @default all */
  readonly movable?: number;
  /** What a reader of the explanation must know, e.g. how similarities were rescaled. */
  readonly note?: string;
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
  /** Whether the run is known to have used it; undefined when nobody said. */
  readonly used: boolean | undefined;
}

/** One retrieval inside an episode. */
export interface LessonExposure<Shared, Memory> {
  /** Draft. The same object for exposures of one collection. */
  readonly shared: Shared;
  readonly vector: Float32Array | undefined;
  readonly context: string;
  /** Share of the episode's outcome that this exposure carries; they sum to 1. */
  readonly share: number;
  readonly shown: readonly ShownMemory<Memory>[];
}

/** A finished episode with what is known about its end. */
export interface Lesson<Shared, Memory> {
  readonly exposures: readonly LessonExposure<Shared, Memory>[];
  /** In [0, 1], or null when nobody knows (only votes teach then). */
  readonly reward: number | null;
  /** In (0, 1]: how much this kind of evidence counts, times the trust in its source when it was last weighed. */
  readonly weight: number;
  /** True when the outcome carries votes; a memory without one then learns at half rate (facts of each learner's card). */
  readonly voted: boolean;
  /** Unix ms of the outcome. */
  readonly at: number;
  /** False when the episode already taught once and this replaces it. */
  readonly first: boolean;
}

/** What one lesson added, in the learner's own coefficients: enough to take it back exactly once. Stored with the episode. */
export interface Contribution {
  readonly exposures: readonly {
    /** Direction learned along, signed bytes; undefined when the learner needs none. */
    readonly direction: Int8Array | undefined;
    readonly scalars: readonly number[];
    /** Parallel to the exposure's shown memories. */
    readonly memories: readonly (readonly number[])[];
  }[];
}

/** What an exposure tells before any outcome. */
export interface Observation<Shared, Memory> {
  readonly shared: Shared;
  readonly context: string;
  /** Similarities of all recorded candidates, host order. */
  readonly similarities: Float64Array;
  /** How many memories were shown. */
  readonly shown: number;
  /** Drafts of the memories shown, each once. Decoding them costs time: do not call it for nothing. */
  memories(): readonly Memory[];
  readonly at: number;
}

/** How a learner fits old runs again. */
export interface Revisits<Shared, Memory> {
  /** How many of the last runs are remembered for it. ≥ 1 */
  readonly log: number;
  /** How many of them are fitted again after each new run, round robin in the ledger's order. ≥ 0; the new run is, too. */
  readonly count: number;
  /** Replaces what a run contributed by what it should contribute now, in the drafts, and says what that is. */
  fit(lesson: Lesson<Shared, Memory>, contribution: Contribution): Contribution;
}

/** Turns outcomes into an order. One file (or folder) each, with a card: formula, parameters, when it is the wrong choice. */
export interface Learner<Shared = unknown, Memory = unknown, Table extends MemoryTable = MemoryTable> {
  /** Name and version, e.g. `oar@1`. Stored with every state; a change of arithmetic is a new version. */
  readonly id: string;
  /** How many candidates it wants for `topK`; the engine asks for 4·topK (at least 20) when absent. */
  fetchK?(topK: number): number;
  readonly shared: StateCodec<Shared>;
  readonly memory: StateCodec<Memory>;
  /** An empty table of this learner's memory states. */
  createTable(): Table;
  score(request: ScoreRequest<Shared, Table>): Scores;
  observe(observation: Observation<Shared, Memory>): void;
  /** Applies a lesson to the drafts and says what it added. */
  learn(lesson: Lesson<Shared, Memory>): Contribution;
  /** Runs that are fitted again after each new one, for learners that fit many runs jointly. Each touches the states of its memories. */
  readonly revisits?: Revisits<Shared, Memory>;
  /** Takes back what an earlier lesson on the same exposures added. */
  unlearn(lesson: Lesson<Shared, Memory>, contribution: Contribution): void;
  /** The memory's text changed: keep this share of its evidence, in [0, 1]. */
  discount(memory: Memory, keep: number): void;
  /** A few numbers about a memory for `status` and tools; `utility` orders "best" lists. */
  describe(memory: Memory, now: number): { readonly utility: number; readonly evidence: number };
  /** A few numbers about a collection for `status`. */
  summarize(shared: Shared): Readonly<Record<string, unknown>>;
}
