import { dequantise } from "../embedding/quantise.js";
import type { Learner } from "../learners/learner.js";
import { stateAddress } from "../store/state-address.js";
import type { SequencedEntry, StateRef, StateWrite, StoredState } from "../store/store.js";
import { privateCopy } from "./bytes.js";
import { decodeEpisode, type EpisodeRecord, encodeEpisode } from "./episode-record.js";
import type { RecordedExposure } from "./events.js";
import { MemoryRecord } from "./memory-record.js";
import {
  decodeSharedRecord,
  emptyShared,
  encodeSharedRecord,
  learnerMismatch,
  type SharedRecord,
} from "./shared-record.js";
import {
  collectionOf,
  episodeRef,
  memoryScope,
  SCOPES,
  sharedRef,
  statsRef,
  textOfValue,
  textValue,
} from "./state-keys.js";
import { decodeStats, emptyStats, encodeStats, type StatsRecord } from "./stats-record.js";
import { readable } from "./unreadable.js";
import { bandOf, bandScope, SLACK } from "./utility-bands.js";

/** A part of a reduction: asks for states on the way and returns a result. */
export type Loading<Result = void> = Generator<readonly StateRef[], Result, readonly (Uint8Array | undefined)[]>;

const NO_VALUE = new Uint8Array();

/** Decoded records of a namespace. */
export interface Records {
  stats: StatsRecord | undefined;
  readonly collections: Map<string, SharedRecord>;
  /** By collection and id. */
  readonly memories: Map<string, Map<string, MemoryRecord>>;
  readonly episodes: Map<string, EpisodeRecord>;
}

export function noRecords(): Records {
  return { stats: undefined, collections: new Map(), memories: new Map(), episodes: new Map() };
}

/** The states that one entry touches, and their changes. The store's own bytes are copied before a change. */
export class Draft {
  readonly learner: Learner;
  readonly seq: number;
  readonly at: number;
  protected readonly records: Records;
  /** The memories that this entry has loaded. */
  protected readonly loadedMemories: Map<MemoryRecord, StateRef> = new Map<MemoryRecord, StateRef>();
  #values = new Map<string, Uint8Array>();
  #keptEpisodes = new Map<string, EpisodeRecord>();
  #writes: StateWrite[] = [];

  constructor(learner: Learner, entry: SequencedEntry, records: Records = noRecords()) {
    this.learner = learner;
    this.seq = entry.seq;
    this.at = entry.at;
    this.records = records;
  }

  /** There after the first `load`, which asks for it. */
  get stats(): StatsRecord {
    return this.records.stats as StatsRecord;
  }

  /** Asks the store for states that are not here yet. */
  *load(refs: readonly StateRef[]): Loading {
    const missing = refs.filter((ref) => !this.has(ref));
    if (missing.length === 0) return;
    const found = yield missing;
    missing.forEach((ref, i) => {
      if (!this.has(ref)) this.#place(ref, found[i]);
    });
  }

  /** Loads the records of episodes. */
  loadEpisodes(ids: readonly string[]): Loading {
    return this.load(ids.map(episodeRef));
  }

  /** Loads the shared and memory states behind exposures. */
  loadStates(
    exposures: readonly { readonly collection: string; readonly items: readonly { readonly id: string }[] }[],
  ): Loading {
    const refs: StateRef[] = [];
    for (const { collection, items } of exposures) {
      const scope = memoryScope(collection);
      const known = this.records.memories.get(collection);
      refs.push(sharedRef(collection));
      for (const { id } of items) {
        const record = known?.get(id);
        if (record) this.loadedMemories.set(record, { scope, id });
        else refs.push({ scope, id });
      }
    }
    return this.load(refs);
  }

  /** The bytes of an alias, of a label, of a source's record, or of a part of a ring. */
  value(ref: StateRef): Uint8Array | undefined {
    return this.#values.get(stateAddress(ref));
  }

  /** Keeps such bytes, at once and for the store. */
  keepValue(ref: StateRef, value: Uint8Array): void {
    this.#values.set(stateAddress(ref), value);
    this.write(ref, value);
  }

  /** The same as text: the episode that an alias names, a label, or a part of a ring. */
  text(ref: StateRef): string | undefined {
    const value = this.value(ref);
    return value && textOfValue(value);
  }

  keepText(ref: StateRef, text: string): void {
    this.keepValue(ref, textValue(text));
  }

  episode(id: string): EpisodeRecord | undefined {
    return this.records.episodes.get(id);
  }

  /** Keeps an episode's record as it will be when the entry is folded. */
  keepEpisode(id: string, record: EpisodeRecord): void {
    this.#keptEpisodes.set(id, record);
  }

  shared(collection: string): SharedRecord {
    const { collections } = this.records;
    const known = collections.get(collection);
    if (known) return known;
    const fresh = emptyShared(this.learner);
    collections.set(collection, fresh);
    return fresh;
  }

  memory(collection: string, id: string): MemoryRecord {
    return this.records.memories.get(collection)?.get(id) as MemoryRecord;
  }

  decodeMemory(bytes: Uint8Array): unknown {
    const { memory } = this.learner;
    return bytes.length === 0 ? memory.empty() : readable(() => memory.decode(privateCopy(bytes)));
  }

  replaceShared(collection: string, bytes: Uint8Array): void {
    const state = readable(() => this.learner.shared.decode(privateCopy(bytes)));
    this.shared(collection).state = state;
  }

  /** The first request vector of a collection decides its space. */
  adoptSpace({ collection, space, length, vector }: RecordedExposure): void {
    const shared = this.shared(collection);
    if (shared.space === "" && vector.length > 0) {
      shared.space = space;
      shared.length = length;
    }
  }

  /** The exposure's request vector, if it lies in the space of its collection. */
  vectorIn(exposure: {
    readonly collection: string;
    readonly space: string;
    readonly length: number;
    readonly vector: Int8Array;
  }): Float32Array | undefined {
    const shared = this.shared(exposure.collection);
    const same = exposure.vector.length > 0 && exposure.space === shared.space && exposure.length === shared.length;
    return same ? dequantise(exposure.vector) : undefined;
  }

  write(ref: StateRef, value: Uint8Array | null): void {
    this.#writes.push({ scope: ref.scope, id: ref.id, value });
  }

  writes(): StateWrite[] {
    for (const [id, record] of this.#keptEpisodes) this.write(episodeRef(id), encodeEpisode(record));
    for (const [record, ref] of this.loadedMemories) this.#count(ref, record);
    this.writeRecords();
    return this.#writes;
  }

  /** Writes the other records that this entry has loaded, whether or not it changed them. */
  protected writeRecords(): void {
    this.#writes.push(...encodeRecords(this.learner, this.records));
  }

  /** Counts a memory in its collection, and lists it in the band of its utility. */
  #count({ scope, id }: StateRef, record: MemoryRecord): void {
    const isShown = record.shown > 0;
    if (isShown === record.wasShown && record.isAsStored) return;
    const collection = collectionOf(scope) as string;
    if (isShown !== record.wasShown) this.shared(collection).memories += isShown ? 1 : -1;
    if (record.isAsStored) return;
    const { band: before, learned } = record;
    const band = learned === undefined ? 0 : bandOf(this.learner.describe(learned, this.at));
    if (band === before || (band > 0 && before > 0 && Math.abs(band - before) <= SLACK)) return;
    const move = (to: number, by: 1 | -1): void => {
      if (to === 0) return;
      (this.shared(collection).bands[to - 1] as number) += by;
      this.write({ scope: bandScope(to, collection), id }, by > 0 ? NO_VALUE : null);
    };
    move(before, -1);
    move(band, 1);
    record.band = band;
  }

  /** True for a state that is here; this entry has loaded it then. */
  protected has(ref: StateRef): boolean {
    const { stats, collections, memories, episodes } = this.records;
    switch (ref.scope) {
      case SCOPES.stats:
        return stats !== undefined;
      case SCOPES.episode:
        return episodes.has(ref.id);
      case SCOPES.shared:
        return collections.has(ref.id);
      default: {
        const collection = collectionOf(ref.scope);
        if (collection === undefined) return this.#values.has(stateAddress(ref));
        const record = memories.get(collection)?.get(ref.id);
        if (record) this.loadedMemories.set(record, ref);
        return record !== undefined;
      }
    }
  }

  #place(ref: StateRef, bytes: Uint8Array | undefined): void {
    const { learner, records } = this;
    switch (ref.scope) {
      case SCOPES.stats:
        records.stats = bytes ? decodeStats(bytes) : emptyStats(learner.id);
        if (records.stats.learner !== learner.id) throw learnerMismatch(records.stats.learner, learner.id);
        break;
      case SCOPES.episode:
        if (bytes) records.episodes.set(ref.id, decodeEpisode(bytes));
        break;
      case SCOPES.shared:
        if (bytes) records.collections.set(ref.id, decodeSharedRecord(privateCopy(bytes), learner));
        break;
      default: {
        const collection = collectionOf(ref.scope);
        if (collection !== undefined) {
          const record = new MemoryRecord(learner.memory, bytes);
          const known = records.memories.get(collection);
          if (known) known.set(ref.id, record);
          else records.memories.set(collection, new Map([[ref.id, record]]));
          this.loadedMemories.set(record, ref);
        } else if (bytes) this.#values.set(stateAddress(ref), bytes);
      }
    }
  }
}

/** The bytes of records, without those of episodes. */
export function* encodeRecords(learner: Learner, { stats, collections, memories }: Records): Generator<StoredState> {
  for (const [collection, records] of memories) {
    const scope = memoryScope(collection);
    for (const [id, record] of records) yield { scope, id, value: record.encode() };
  }
  for (const [collection, record] of collections) {
    yield { ...sharedRef(collection), value: encodeSharedRecord(record, learner.shared) };
  }
  if (stats) yield { ...statsRef, value: encodeStats(stats) };
}
