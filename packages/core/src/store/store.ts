/**
 * The store contract: an append-only ledger with one total order per namespace, and a key-value state that is a cache of
 * its fold. A store knows nothing about learning: entries and states are bytes, and the caller's reduction computes states from
 * entries. `@qavr/store-conformance` tests this contract; `memoryStore()` is the reference.
 */

/** Address of one piece of state inside a namespace. `scope` is a short constant such as `memory:docs`, `id` any name. */
export interface StateRef {
  readonly scope: string;
  readonly id: string;
}

/** Changes of a namespace since a reader last asked. */
export interface StateChanges {
  /** Passed with the next question. */
  readonly cursor: number;
  /** States that may have changed; undefined: all may have. */
  readonly written: readonly StateRef[] | undefined;
}

/** A state with its bytes. */
export interface StoredState extends StateRef {
  readonly value: Uint8Array;
}

/** A new value for one state; `null` removes it. The store keeps the array: the writer must not change it afterwards. */
export interface StateWrite extends StateRef {
  readonly value: Uint8Array | null;
}

/** One fact for the ledger. */
export interface LedgerEntry {
  /** Idempotency key, unique per namespace for ever. At most {@link STORE_LIMITS}.keyLength UTF-16 units. */
  readonly key: string;
  /** Kind of event, a short constant such as `outcome`. */
  readonly type: string;
  /** Wall-clock time of the event, Unix ms, any finite number; −0 is kept as 0. Not part of the payload: a retry may carry a later time. */
  readonly at: number;
  /** The event's bytes. Equal key and equal payload means "the same event again". */
  readonly payload: Uint8Array;
}

/** An entry with its place in the namespace's order; `seq` starts at 1 and has no gaps. */
export interface SequencedEntry extends LedgerEntry {
  readonly seq: number;
}

/**
 * The effect of one entry on the state: a generator that yields the states it needs (in any number of rounds), receives their current
 * bytes in the same order (`undefined` for a missing state) and returns its writes.
 *
 * It must be pure: the same entry and the same states give the same bytes. It must not change an array it was given. A store may run
 * it more than once for one entry and discard a run.
 */
export type Reduction = Generator<readonly StateRef[], readonly StateWrite[], readonly (Uint8Array | undefined)[]>;

/** Starts the reduction of one entry. */
export type Reduce = (entry: SequencedEntry) => Reduction;

/**
 * The result of one entry of a commit, in the order given.
 * - `committed`: appended at `seq` and reduced.
 * - `duplicate`: the key exists with the same payload, at `seq`; nothing changed.
 * - `conflict`: the key exists with another payload, at `seq`; nothing changed.
 */
export interface CommitReceipt {
  readonly status: "committed" | "duplicate" | "conflict";
  readonly seq: number;
}

/** An idempotency key that an earlier entry has used. */
export interface TakenKey {
  readonly seq: number;
  /** True when the earlier entry had this payload. */
  hasPayload(payload: Uint8Array): boolean;
}

/** Abilities of a store beyond the contract. The conformance suite follows these, never a store's name. */
export interface StoreCapabilities {
  /** State and ledger survive `close()` and a new handle. */
  readonly durable: boolean;
  /** Several handles, in one or more processes, may use one backend at once. */
  readonly sharedBackend: boolean;
  /**
   * Greatest age of the answer to a read that may lag, in ms: older commits of other handles are in it, own commits always are.
   * Absent: such reads are as fresh as all others.
   */
  readonly staleness?: number;
}

/** How fresh a read must be. */
export interface ReadOptions {
  /**
   * The answer may be as old as {@link StoreCapabilities}.staleness allows: for rankings, never for decisions.
   * Stores without staleness ignore it.
   */
  readonly mayLag?: boolean;
  /**
   * The answer may be as old as the last awaited {@link Store.refresh} of this namespace: for a reader that refreshes once and then
   * reads several times. It includes all commits of this store object. Stores without `refresh` ignore it.
   */
  readonly refreshed?: boolean;
}

/** One page of a scan. `after` is the last id of the page before; the order of states is the store's own but stable. */
export interface ScanOptions {
  readonly after?: string;
  /** At most this many, 1..10,000. */
  readonly limit: number;
}

/** One page of a list of namespaces. */
export interface NamespaceListOptions extends ScanOptions {
  /**
   * Gets the name of each part of the store that cannot be reached, such as a node of a cluster; its namespaces are left out. Without it
   * the call rejects then. A store of one part has no use for it.
   */
  readonly onMissing?: (part: string) => void;
}

/** One state found by a scan. */
export interface ScannedState {
  readonly id: string;
  readonly value: Uint8Array;
}

/** The beginning of a compacted ledger: the states that its first entry is folded on. */
export interface Checkpoint {
  /** Place of the last compacted entry. */
  readonly seq: number;
  readonly states: readonly StoredState[];
}

/** Work on one moment of a namespace, for {@link Store.atHead}. */
export interface HeadWork {
  /** Place of the last entry that the caller knows. */
  readonly after: number;
  /** Most entries after it that the work takes on, 1..10,000; bounds how long writers wait. */
  readonly limit: number;
  /** True locks the head, and writes the states that the work returns. Otherwise the work only reads. */
  readonly write: boolean;
  /**
   * The new beginning of the ledger, at most the head: entries up to its place are dropped together with the revision that the work
   * returns, and not at all where it returns none. Their keys stay taken, for ever, and answer as before. At the place of the present
   * checkpoint only its states change; before that place nothing at all is written. Known in advance, so that writers need not wait
   * while a store prepares it. Only for stores with {@link Store.readCheckpoint}.
   */
  readonly checkpoint?: CheckpointChange | undefined;
  /**
   * Gets the entries after `after` and the head. Yields states that it needs, as a {@link Reduction} does, and returns what to write,
   * undefined for nothing. May run more than once, each time on the current moment; the last run counts.
   */
  readonly work: (
    entries: readonly SequencedEntry[],
    head: number,
  ) => Generator<readonly StateRef[], Revision | undefined, readonly (Uint8Array | undefined)[]>;
}

/** A later beginning of a ledger, as a change of its checkpoint. */
export interface CheckpointChange {
  /** Place of the last entry to be dropped. ≥ 1 */
  readonly seq: number;
  /** The states of the checkpoint that change; before the first one it has none. */
  readonly states: readonly StateWrite[];
}

/** A change of a namespace that adds no entry. */
export interface Revision {
  readonly states: readonly StateWrite[];
}

/** A part of a store's data that differs from what was written. */
export interface LedgerDamage {
  /** Undefined when unknown. */
  readonly namespace?: string;
  /** Place of the first damaged entry. */
  readonly seq?: number;
  /** The damage in words. */
  readonly problem: string;
}

/** The result of {@link Store.verify}. */
export interface LedgerCheck {
  readonly namespaces: number;
  /** Number of intact entries. */
  readonly entries: number;
  /** Hexadecimal; stands for every entry in its place. Two ledgers with one digest hold the same. */
  readonly digest: string;
  /** Number of damages; `damage` names at most 100. */
  readonly damaged: number;
  readonly damage: readonly LedgerDamage[];
}

/**
 * A namespace's ledger and state.
 *
 * Every method rejects with `STORE_CLOSED` after `close()`, `INVALID_ID` for a name that {@link assertName} refuses and
 * `LIMIT_EXCEEDED` beyond {@link STORE_LIMITS}; a rejected call changed nothing.
 */
export interface Store {
  /** For messages: `memory`, `sqlite`, … */
  readonly name: string;
  readonly capabilities: StoreCapabilities;

  /**
   * Atomically: locks the namespace's head, drops known keys, gives each new entry the next `seq`, runs its reduction
   * against the current state (earlier entries of this call included) and writes. Resolves after the durable commit.
   * If a reduction throws, the call rejects with that error and nothing of this call is kept.
   */
  commit(namespace: string, entries: readonly LedgerEntry[], reduce: Reduce): Promise<readonly CommitReceipt[]>;

  /**
   * The current bytes of `ids` in one scope, in the order given. Sees everything that was acknowledged before the call.
   * The arrays are shared and must not be changed. A state whose bytes are not those that were written reads as {@link DAMAGED_STATE},
   * also in scans, and a commit whose reduction needs it rejects with STORE_CORRUPT.
   */
  readStates(
    namespace: string,
    scope: string,
    ids: readonly string[],
    options?: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]>;

  /**
   * Fetches commits of other handles to a namespace: `changesSince` then names everything acknowledged before this call. Optional:
   * without it, `changesSince` is always current.
   */
  refresh?(namespace: string, options?: ReadOptions): Promise<void>;

  /**
   * Returns the possible changes of a namespace's states since `cursor` (0: the first question), by any handle. Lets a reader keep
   * decoded states. Synchronous and cheap; optional: without it, states are read for every request.
   */
  changesSince?(namespace: string, cursor: number): StateChanges;

  /** One page of the states of a scope. */
  scanStates(namespace: string, scope: string, options: ScanOptions): Promise<readonly ScannedState[]>;

  /**
   * Entries with `seq > after`, ascending, at most `limit` (1..10,000). Entries before a checkpoint are gone; the place of the first
   * one shows it. A short list ends at the head: a store that notices missing entries rejects with `STORE_CORRUPT`.
   */
  readEntries(
    namespace: string,
    options: { readonly after?: number; readonly limit: number },
  ): Promise<readonly SequencedEntry[]>;

  /** The entry that has used an idempotency key, also one that was compacted; undefined for a key that is free. Never lags. */
  findKey(namespace: string, key: string): Promise<TakenKey | undefined>;

  /** The last `seq` of the namespace, 0 if it is empty. */
  head(namespace: string): Promise<number>;

  /** One page of the namespaces that have entries, in the order of their names' UTF-8 bytes. */
  namespaces(options: NamespaceListOptions): Promise<readonly string[]>;

  /**
   * Runs work on the states and the last entries of one moment, whatever other handles write: how maintenance finishes while others
   * write. The states are read from the backend and not from a cache. Resolves to false, having done nothing, when more than `limit`
   * entries follow `after`. The work must return soon, since writers wait.
   */
  atHead(namespace: string, work: HeadWork): Promise<boolean>;

  /** The checkpoint that a namespace's ledger begins with, undefined for a whole ledger. Optional: a store without it cannot compact. */
  readCheckpoint?(namespace: string): Promise<Checkpoint | undefined>;

  /**
   * Reads everything and checks each entry against its digest, which covers its place and all entries before it. Damage does not
   * reject the call. Optional; {@link ledgerDigests} and {@link NamespaceCheck} do most of it.
   *
   * @param progress called now and then with the number of entries checked, and of those up to the end of the namespace being checked
   */
  verify?(namespace?: string, progress?: (done: number, total: number) => void): Promise<LedgerCheck>;

  /** Rebuilds data derived from entries and states, such as indexes. Optional. */
  repair?(): Promise<void>;

  /** Removes a namespace's entries, keys and states physically. */
  eraseNamespace(namespace: string): Promise<void>;

  /** Binds the outbox of `withOutbox()` to an engine. Only a store with an outbox has it. */
  outbox?(host: OutboxHost): OutboxQueue;

  /** The stores behind a routed store. Only a routed store has it. */
  readonly places?: StorePlaces;

  /** Releases the backend. Commits under way are finished first. Calling it twice is legal. */
  close(): Promise<void>;
}

/** The stores that the namespaces of a routed store live in, by name. */
export interface StorePlaces {
  readonly stores: Readonly<Record<string, Store>>;
  /** The store in which this handle found a namespace last. No I/O. */
  lastPlace(namespace: string): string;
  /** Asks the stores for the place of a namespace. */
  locate(namespace: string): Promise<NamespacePlace>;
}

/** The place of a namespace in a routed store. */
export interface NamespacePlace {
  /** The store that has all its entries. */
  readonly holder: string;
  /** The store that takes its next entries: the holder, unless a move is not finished. */
  readonly place: string;
}

/** Hard limits that every store enforces alike, so that a ledger can move from one store to another. */
export const STORE_LIMITS = {
  /** Namespace, scope and state id, in UTF-16 units. */
  nameLength: 512,
  /** Idempotency key, in UTF-16 units. */
  keyLength: 512,
  /** Payload of one entry and value of one state, in bytes. */
  payloadBytes: 1_048_576,
  /** Entries of one commit, ids of one read, rows of one page. */
  batch: 10_000,
} as const;

/** The engine's side of an outbox. */
export interface OutboxHost {
  /** The store behind the outbox. */
  readonly store: Store;
  readonly reduce: Reduce;
  /** Runs a call of the backend `name` with a timeout, and gives its failure a code. */
  within<Result>(name: string, call: () => Promise<Result>): Promise<Result>;
  /** Unix ms. */
  readonly now: () => number;
  readonly log: (
    level: "info" | "warn" | "error",
    message: string,
    fields: { readonly code: string; readonly [field: string]: unknown },
  ) => void;
}

/** Receipt of an entry: durable in the ledger at `seq`, or in the outbox, without a place yet. */
export type QueueReceipt = CommitReceipt | { readonly status: "queued"; readonly seq: 0 };

/** An outbox that an engine has bound. */
export interface OutboxQueue {
  /**
   * Commits to the store or, while that is out of reach, to the outbox: an acknowledged commit is durable in one of them.
   * @throws OUTBOX_FULL when neither has room, and the codes of a store that refuses
   */
  commit(namespace: string, entries: readonly LedgerEntry[]): Promise<readonly QueueReceipt[]>;
  /** Sends what waits, if the store can be reached; asks it also while the circuit is open. Never rejects. */
  drain(): Promise<void>;
  /** Sends also what the store has refused: it may have been repaired since. Never rejects. */
  retry(): Promise<void>;
  /** The waiting entry with a key. */
  find(namespace: string, key: string): Promise<LedgerEntry | undefined>;
  /** Drops the waiting commits of a namespace. */
  discard(namespace: string): Promise<void>;
  /** Waits until no commit of a namespace waits. @throws STORE_UNAVAILABLE when the store does not take them */
  settle(namespace: string): Promise<void>;
  /** Local counters; does no I/O. */
  health(): { readonly writeCircuitOpen: boolean; readonly queued: number; readonly rejected: number };
}

/** The part of a store that states are read from. */
export type StateSource = Pick<Store, "readStates" | "changesSince" | "refresh">;
