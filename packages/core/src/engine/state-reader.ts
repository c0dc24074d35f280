import type { Learner, MemoryTable } from "../learners/learner.js";
import { decodeEpisode, type EpisodeRecord } from "../ledger/episode-record.js";
import { confirmationsIn, contentHashIn, learnedBytes, MemoryRecord } from "../ledger/memory-record.js";
import { decodeSharedRecord, learnerMismatch, type SharedRecord } from "../ledger/shared-record.js";
import { collectionOf, memoryScope, SCOPES, statsRef, textOfValue } from "../ledger/state-keys.js";
import { decodeStats, type StatsRecord } from "../ledger/stats-record.js";
import { readable } from "../ledger/unreadable.js";
import { CONFIRMATIONS } from "../scoring/unverified.js";
import { DAMAGED_STATE, type DamagedState } from "../store/damaged.js";
import type { ReadOptions, StateRef, StateSource, Store } from "../store/store.js";

/** Decoded states are kept up to about this many bytes; the namespaces that were not used for longest go first. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;
/** Bytes of a namespace and of an id in it, beside the learner's table. */
const NAMESPACE_BYTES = 1_024;
const ROW_BYTES = 128;
/** Row of a memory without learned state. */
const NO_ROW = -1;
/** A row that is out of date is kept as this minus itself: to be filled again, found by the same look-up. */
const STALE = -2;

/** Most states that are read ahead: those of a few runs that ended together. More changes than that are not from runs of this process. */
const MOST_AHEAD = 200;

/** A ranking may be a little behind: outcomes of other processes are no more exact than their timing. */
const LAGGING: ReadOptions = { mayLag: true };

/** Gets a damaged state. */
export type OnDamagedState = (namespace: string, damaged: DamagedState) => unknown;

/** The states behind a request's candidates. */
export interface ScoringStates {
  /** Undefined before the collection's first exposure. */
  readonly shared: SharedRecord | undefined;
  readonly table: MemoryTable;
  /** Parallel to the ids asked for. */
  readonly rows: Int32Array;
  /**
   * Those of the ids asked for, and others, that verified successes have confirmed often enough, with the fingerprint of the text
   * that they have confirmed, 0 if unknown.
   */
  readonly confirmed: ReadonlyMap<string, number>;
}

/** Decoded states of one collection. */
interface CachedCollection {
  /** Null: not read yet, or changed since. */
  shared: SharedRecord | undefined | null;
  readonly table: MemoryTable;
  /** By memory id: a row, NO_ROW, or at most STALE for a row that is out of date. */
  readonly rows: Map<string, number>;
  readonly confirmed: Map<string, number>;
}

/** Decoded states of one namespace, up to date as of `cursor`, except marked ones. */
interface CachedNamespace {
  cursor: number;
  /** Null: not read yet, or changed since. */
  stats: StatsRecord | undefined | null;
  /** True when outcomes had taught it something at some time since all of it may have changed. */
  taught: boolean;
  /** True when rankings have used it since it was last read ahead. */
  ranked: boolean;
  /** Bytes at its last weighing. */
  size: number;
  readonly collections: Map<string, CachedCollection>;
}

/**
 * Reads states and keeps them decoded. With a store that reports changes, a request whose states are known costs no read;
 * with others each request reads its states.
 */
export class StateReader {
  readonly #store: StateSource;
  readonly #learner: Learner;
  readonly #onDamaged: OnDamagedState;
  /** Least recently used first. */
  readonly #namespaces = new Map<string, CachedNamespace>();
  /** Of all kept tables, in bytes. */
  #size = 0;

  /** @param onDamaged takes note of damaged states, which then read as missing, or throws */
  constructor(store: StateSource, learner: Learner, onDamaged: OnDamagedState) {
    this.#store = store;
    this.#learner = learner;
    this.#onDamaged = onDamaged;
  }

  async stats(namespace: string, options?: ReadOptions): Promise<StatsRecord | undefined> {
    const cache = await this.#current(namespace, options);
    if (cache.stats !== null) return cache.stats;
    const { cursor } = cache;
    const [bytes] = await this.#read(namespace, statsRef.scope, [statsRef.id], options);
    const stats = bytes && decodeStats(bytes);
    if (cache.cursor === cursor) {
      cache.stats = stats;
      if (stats?.taught) cache.taught = true;
    }
    return stats;
  }

  /** The same. @throws LEARNER_MISMATCH where another learner wrote the states */
  async ownStats(namespace: string): Promise<StatsRecord | undefined> {
    const stats = await this.stats(namespace);
    if (stats && stats.learner !== this.#learner.id) throw learnerMismatch(stats.learner, this.#learner.id);
    return stats;
  }

  /**
   * True when outcomes have taught a namespace something. Only erasing or rebuilding it can take that back, so a taught namespace is
   * read again when all of it may have changed. Changes by other processes become known with the next ranking.
   */
  async hasTaught(namespace: string): Promise<boolean> {
    const known = this.#namespaces.get(namespace);
    if (known?.taught && this.#store.changesSince?.(namespace, known.cursor).written) return true;
    const stats = await this.stats(namespace, LAGGING);
    return !!stats?.taught;
  }

  /** @throws LEARNER_MISMATCH */
  async shared(namespace: string, collection: string): Promise<SharedRecord | undefined> {
    return this.#shared(namespace, collection, await this.#current(namespace));
  }

  /** May be as old as the store's staleness allows. @throws LEARNER_MISMATCH */
  async scoring(namespace: string, collection: string, ids: readonly string[]): Promise<ScoringStates> {
    const cache = await this.#current(namespace, LAGGING);
    cache.ranked = true;
    const known = this.#collection(cache, collection);
    const rows = new Int32Array(ids.length);
    const missing: number[] = [];
    for (let i = 0; i < ids.length; i++) {
      const row = known.rows.get(ids[i] as string);
      if (row === undefined || row <= STALE) missing.push(i);
      else rows[i] = row;
    }
    // The learner that wrote the states comes first: another learner's memories cannot be read.
    const shared = known.shared === null ? await this.#shared(namespace, collection, cache, LAGGING) : known.shared;
    if (missing.length > 0) {
      const wanted = missing.map((place) => ids[place] as string);
      const found = await this.#load(namespace, collection, cache, wanted);
      missing.forEach((place, i) => {
        rows[place] = found[i] as number;
      });
    }
    return { shared, table: known.table, rows, confirmed: known.confirmed };
  }

  /**
   * Reads the changed states of recent rankings again, after a commit of this process, so that the next ranking need not.
   * Once between two rankings, so outcomes without rankings read nothing. A failed read is left to the next ranking.
   */
  async readAhead(namespace: string): Promise<void> {
    const cache = this.#namespaces.get(namespace);
    const changes = cache?.ranked ? this.#store.changesSince?.(namespace, cache.cursor) : undefined;
    if (!cache || !changes?.written) return;
    cache.ranked = false;
    cache.cursor = changes.cursor;
    const outdated = mark(cache, changes.written);
    if (outdated.length > MOST_AHEAD) return;
    const byScope = Map.groupBy(outdated, ({ scope }) => scope);
    for (const { id } of byScope.get(SCOPES.shared) ?? []) await this.#shared(namespace, id, cache, LAGGING);
    for (const [scope, refs] of byScope) {
      const collection = collectionOf(scope);
      if (collection === undefined) continue;
      const ids = refs.map(({ id }) => id);
      await this.#load(namespace, collection, cache, ids);
    }
    // Until a namespace has learned, each retrieval asks whether it has.
    if (!cache.taught) await this.stats(namespace, LAGGING);
  }

  memory(bytes: Uint8Array): MemoryRecord {
    return new MemoryRecord(this.#learner.memory, bytes);
  }

  async episode(namespace: string, id: string): Promise<EpisodeRecord | undefined> {
    const [bytes] = await this.#states(namespace, SCOPES.episode, [id]);
    return bytes && decodeEpisode(bytes);
  }

  /** The recorded episode's id for an id or alias. */
  async resolve(namespace: string, reference: string): Promise<{ id: string; record: EpisodeRecord } | undefined> {
    const direct = await this.episode(namespace, reference);
    if (direct) return { id: reference, record: direct };
    const [alias] = await this.#states(namespace, SCOPES.alias, [reference]);
    if (!alias) return undefined;
    const id = textOfValue(alias);
    const record = await this.episode(namespace, id);
    return record && { id, record };
  }

  async #shared(
    namespace: string,
    collection: string,
    cache: CachedNamespace,
    options?: ReadOptions,
  ): Promise<SharedRecord | undefined> {
    const known = this.#collection(cache, collection);
    if (known.shared !== null) return known.shared;
    const { cursor } = cache;
    const [bytes] = await this.#read(namespace, SCOPES.shared, [collection], options);
    const shared = bytes && decodeSharedRecord(bytes, this.#learner);
    if (cache.cursor === cursor) known.shared = shared;
    return shared;
  }

  /**
   * Reads memories into the collection's table and returns their rows. A concurrent invalidation may
   * arrive during this read: use the result now, keep the row stale, and never overwrite a newer read.
   */
  async #load(
    namespace: string,
    collection: string,
    cache: CachedNamespace,
    ids: readonly string[],
  ): Promise<readonly number[]> {
    const known = this.#collection(cache, collection);
    const { cursor } = cache;
    const found = await this.#read(namespace, memoryScope(collection), ids, LAGGING);
    const isCurrent = cache.cursor === cursor && this.#namespaces.get(namespace) === cache;
    const rows = ids.map((id, i) => {
      const before = known.rows.get(id);
      if (!isCurrent && before !== undefined && before >= NO_ROW) return before;
      const bytes = found[i];
      const learned = bytes && learnedBytes(bytes);
      const own = before === undefined || before === NO_ROW ? undefined : before <= STALE ? STALE - before : before;
      const row = learned && learned.length > 0 ? readable(() => known.table.put(learned, own)) : NO_ROW;
      if (bytes && confirmationsIn(bytes) >= CONFIRMATIONS) known.confirmed.set(id, contentHashIn(bytes));
      else if (known.confirmed.size > 0) known.confirmed.delete(id);
      if (isCurrent) known.rows.set(id, row);
      else if (row !== NO_ROW) known.rows.set(id, STALE - row);
      return row;
    });
    this.#weigh(namespace, cache);
    return rows;
  }

  /** Reads states of a namespace that was made current just before. */
  #read(
    namespace: string,
    scope: string,
    ids: readonly string[],
    options?: ReadOptions,
  ): ReturnType<Store["readStates"]> {
    return this.#states(namespace, scope, ids, { ...options, refreshed: true });
  }

  async #states(
    namespace: string,
    scope: string,
    ids: readonly string[],
    options?: ReadOptions,
  ): ReturnType<Store["readStates"]> {
    const values = await this.#store.readStates(namespace, scope, ids, options);
    const place = values.indexOf(DAMAGED_STATE);
    if (place === -1) return values;
    await this.#onDamaged(namespace, { scope, state: ids[place] as string });
    return values.map((value) => (value === DAMAGED_STATE ? undefined : value));
  }

  /** The namespace's cache with everything marked that changed since it was last used. */
  async #current(namespace: string, options?: ReadOptions): Promise<CachedNamespace> {
    if (!this.#store.changesSince) return emptyCache(0);
    if (this.#store.refresh) await this.#store.refresh(namespace, options);
    const known = this.#namespaces.get(namespace);
    const { cursor, written } = this.#store.changesSince(namespace, known?.cursor ?? 0);
    if (known) this.#drop(namespace, known);
    const cache = known && written ? known : emptyCache(cursor);
    if (written) mark(cache, written);
    cache.cursor = cursor;
    this.#namespaces.set(namespace, cache);
    this.#size += cache.size;
    this.#weigh(namespace, cache);
    return cache;
  }

  #drop(namespace: string, cache: CachedNamespace): void {
    this.#namespaces.delete(namespace);
    this.#size -= cache.size;
  }

  /** Notes the new size of a kept cache, and drops the least recently used ones until the rest fits. */
  #weigh(namespace: string, grown: CachedNamespace): void {
    if (this.#namespaces.get(namespace) !== grown) return;
    const size = sizeOf(grown);
    this.#size += size - grown.size;
    grown.size = size;
    for (const [name, cache] of this.#namespaces) {
      if (this.#size <= MAX_CACHED_BYTES) return;
      this.#drop(name, cache);
    }
  }

  #collection(cache: CachedNamespace, collection: string): CachedCollection {
    const known = cache.collections.get(collection);
    if (known) return known;
    const fresh: CachedCollection = {
      shared: null,
      table: this.#learner.createTable(),
      rows: new Map(),
      confirmed: new Map(),
    };
    cache.collections.set(collection, fresh);
    return fresh;
  }
}

function emptyCache(cursor: number): CachedNamespace {
  return { cursor, stats: null, taught: false, ranked: false, collections: new Map(), size: 0 };
}

/** About how many bytes it holds; also a namespace of which only the counters are known counts. */
function sizeOf({ collections }: CachedNamespace): number {
  let size = NAMESPACE_BYTES;
  for (const { table, rows } of collections.values()) size += table.size + rows.size * ROW_BYTES;
  return size;
}

/** Marks written states as out of date, and returns the memories and collections among them that were known until now. */
function mark(cache: CachedNamespace, written: readonly StateRef[]): readonly StateRef[] {
  return written.filter(({ scope, id }) => {
    if (scope === SCOPES.stats) {
      cache.stats = null;
      return false;
    }
    if (scope === SCOPES.shared) {
      const collection = cache.collections.get(id);
      if (!collection || collection.shared === null) return false;
      collection.shared = null;
      return true;
    }
    const ofMemories = collectionOf(scope);
    if (ofMemories === undefined) return false;
    const rows = cache.collections.get(ofMemories)?.rows;
    const row = rows?.get(id);
    if (!rows || row === undefined || row <= STALE) return false;
    if (row === NO_ROW) rows.delete(id);
    else rows.set(id, STALE - row);
    return true;
  });
}
