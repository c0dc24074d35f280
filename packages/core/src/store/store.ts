/**
 * The store contract: an append-only ledger with one total order per namespace, and a key-value state that is a cache of
 * its fold. A store knows nothing about learning: entries and states are bytes, and the caller's reduction says how one
 * follows from the other. `@qavr/store-conformance` is this page as a runnable suite; `memoryStore()` is the reference.
 */

import type { StateChanges } from "./change-log.js";

/** Address of one piece of state inside a namespace. `scope` is a short constant such as `memory:docs`, `id` is anybody's. */
export interface StateRef {
  readonly scope: string;
  readonly id: string;
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

/** An entry that has its place in the namespace's order; `seq` starts at 1 and has no gaps. */
export interface SequencedEntry extends LedgerEntry {
  readonly seq: number;
}

/**
 * What one entry does to the state: a generator that yields the states it needs to see (in as many rounds as it likes),
 * receives their current bytes in the same order (`undefined` where there is none) and returns what to write.
 *
 * It must be pure: the same entry and the same states give the same bytes. It must not change an array it was given. A store may
 * begin it more than once for one entry, with what came of one try thrown away.
 */
export type Reduction = Generator<readonly StateRef[], readonly StateWrite[], readonly (Uint8Array | undefined)[]>;

/** Starts the reduction of one entry. */
export type Reduce = (entry: SequencedEntry) => Reduction;

/**
 * What became of one entry of a commit, in the order given.
 * - `committed`: appended at `seq` and reduced.
 * - `duplicate`: this key is there already with the same payload, at `seq`; nothing changed.
 * - `conflict`: this key is there already with another payload, at `seq`; nothing changed.
 */
export interface CommitReceipt {
  readonly status: "committed" | "duplicate" | "conflict";
  readonly seq: number;
}

/** What a store can do beyond the contract. The conformance suite follows these, never a store's name. */
export interface StoreCapabilities {
  /** State and ledger survive `close()` and a new handle. */
  readonly durable: boolean;
  /** Several handles, in one or more processes, may use one backend at once. */
  readonly sharedBackend: boolean;
  /**
   * How old the answer to a read that may lag can be at most, in ms: what other handles had committed by then is in it. Own
   * commits are always. Absent: such reads are as fresh as all others.
   */
  readonly staleness?: number;
}

/** How fresh a read must be. */
export interface ReadOptions {
  /**
   * The answer may be as old as {@link StoreCapabilities}.staleness allows: for rankings, never for what is decided upon.
   * Stores without staleness ignore it.
   */
  readonly mayLag?: boolean;
  /**
   * The answer may be as old as the last {@link Store.refresh} of this namespace that the caller has awaited: for a reader that refreshes
   * once and then reads several times. What this store object has committed itself is in it all the same. Stores without `refresh` ignore it.
   */
  readonly refreshed?: boolean;
}

/** One page of a scan. `after` is the last id of the page before; the order is the store's own but stable. */
export interface ScanOptions {
  readonly after?: string;
  /** At most this many, 1..10,000. */
  readonly limit: number;
}

/** One state found by a scan. */
export interface ScannedState {
  readonly id: string;
  readonly value: Uint8Array;
}

/** Where a compacted ledger begins: the states that its first entry is folded on. */
export interface Checkpoint {
  /** Place of the last entry that is gone. */
  readonly seq: number;
  readonly states: readonly StateWrite[];
}

/** What a namespace becomes when the beginning of its ledger is dropped. */
export interface Compaction {
  /** The head that all of this was computed at. */
  readonly head: number;
  /** Entries up to this place go: above the last checkpoint, at most the head. */
  readonly through: number;
  /** The states as they were at `through`. */
  readonly checkpoint: readonly StateWrite[];
  /** The states as of the head. */
  readonly states: readonly StateWrite[];
}

/** Something in a store's files that is not as it was written. */
export interface LedgerDamage {
  /** Undefined when it cannot be said. */
  readonly namespace?: string;
  /** Place of the first entry that is not as it was written. */
  readonly seq?: number;
  /** What is wrong, in words for people. */
  readonly problem: string;
}

/** What {@link Store.verify} found. */
export interface LedgerCheck {
  readonly namespaces: number;
  /** Entries that were read and found as they were written. */
  readonly entries: number;
  /** Hexadecimal; stands for every entry in its place. Two ledgers with one digest hold the same. */
  readonly digest: string;
  /** All of it, of which `damage` names at most 100. */
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
   * The arrays are shared and must not be changed.
   */
  readStates(
    namespace: string,
    scope: string,
    ids: readonly string[],
    options?: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]>;

  /**
   * Learns what other handles have committed to a namespace: `changesSince` then names everything that was acknowledged before
   * this call. Optional: without it, `changesSince` knows by itself.
   */
  refresh?(namespace: string, options?: ReadOptions): Promise<void>;

  /**
   * What may have changed in a namespace's states since `cursor` (0: never asked), by whomever. Lets a reader keep decoded
   * states. Synchronous and cheap; optional: without it, states are read for every request.
   */
  changesSince?(namespace: string, cursor: number): StateChanges;

  /** One page of the states of a scope. */
  scanStates(namespace: string, scope: string, options: ScanOptions): Promise<readonly ScannedState[]>;

  /**
   * Entries with `seq > after`, ascending, at most `limit` (1..10,000). Those before a checkpoint are gone: the first one says so by its
   * place. A list that ends early has come to the head: where entries are missing before that, a store that can tell rejects with
   * `STORE_CORRUPT`.
   */
  readEntries(
    namespace: string,
    options: { readonly after?: number; readonly limit: number },
  ): Promise<readonly SequencedEntry[]>;

  /** The last `seq` of the namespace, 0 if it is empty. */
  head(namespace: string): Promise<number>;

  /** One page of the namespaces that have entries. */
  namespaces(options: ScanOptions): Promise<readonly string[]>;

  /**
   * Replaces the whole state of a namespace, if its head still is `head`. Resolves to false, having changed nothing, if it
   * moved on. Used by replay: state is a cache and may be rebuilt at any time.
   */
  replaceStates(namespace: string, head: number, states: readonly StateWrite[]): Promise<boolean>;

  /**
   * Drops the beginning of a namespace's ledger and replaces its states, if the head still is `head`. Resolves to false, having
   * changed nothing, if it moved on. Keys of dropped entries stay taken, for ever, and answer as before. Optional.
   */
  compact?(namespace: string, compaction: Compaction): Promise<boolean>;

  /** Where a namespace's ledger begins, undefined while it is whole. There when {@link Store.compact} is. */
  readCheckpoint?(namespace: string): Promise<Checkpoint | undefined>;

  /**
   * Reads everything and holds each entry against the digest that it was written with, which covers its place and all entries before
   * it. Resolves also for damage, however much. Optional; {@link ledgerDigests} and {@link ChainCheck} do most of it.
   */
  verify?(namespace?: string): Promise<LedgerCheck>;

  /** Builds again what follows from entries and states, such as indexes. Optional. */
  repair?(): Promise<void>;

  /** Removes a namespace's entries, keys and states physically. */
  eraseNamespace(namespace: string): Promise<void>;

  /** Releases the backend. Commits under way are finished first. Calling it twice is legal. */
  close(): Promise<void>;
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
