import { dequantise } from "../embedding/quantise.js";
import type { Learner } from "../learners/learner.js";
import type { SequencedEntry, StateRef, StateWrite } from "../store/store.js";
import { StateOverlay } from "../store/write-overlay.js";
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
  settleShared,
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

/** Records that a fold in memory keeps decoded from entry to entry, each with a function that makes its bytes. */
export type KeptRecords = StateOverlay<{ readonly record: unknown; readonly encode: () => Uint8Array }>;

/** The states that one entry touches, and their changes. The store's own bytes are copied before a change. */
export class Draft<Shared, Memory> {
  readonly learner: Learner<Shared, Memory>;
  readonly seq: number;
  readonly at: number;
  #stats: StatsRecord | undefined;
  #episodes = new Map<string, EpisodeRecord>();
  #shared = new Map<string, SharedRecord<Shared>>();
  /** By collection and id. */
  #memories = new Map<string, Map<string, MemoryRecord<Memory>>>();
  /** Every state that the store was asked for, with its bytes where they are no record. */
  #asked = new StateOverlay();
  #kept = new StateOverlay(this.#asked);
  #keptEpisodes = new Map<string, EpisodeRecord>();
  readonly #records: KeptRecords | undefined;
  #writes: StateWrite[] = [];

  constructor(learner: Learner<Shared, Memory>, entry: SequencedEntry, records?: KeptRecords) {
    this.learner = learner;
    this.#records = records;
    this.seq = entry.seq;
    this.at = entry.at;
  }

  get stats(): StatsRecord {
    return this.#stats as StatsRecord;
  }

  /** Asks the store for states that are not here yet. */
  *load(refs: readonly StateRef[]): Loading {
    const missing = refs.filter((ref) => {
      const known = this.#records?.get(ref);
      if (known) this.#place(ref, undefined, known.record);
      if (known || this.#kept.get(ref) !== undefined) return false;
      this.#asked.set({ scope: ref.scope, id: ref.id, value: null });
      return true;
    });
    if (missing.length === 0) return;
    const found = yield missing;
    missing.forEach((ref, i) => {
      this.#place(ref, found[i]);
    });
  }

  /** Loads the records of episodes. */
  *loadEpisodes(ids: readonly string[]): Loading {
    yield* this.load(ids.map(episodeRef));
  }

  /** Loads the shared and memory states behind exposures. */
  *loadStates(
    exposures: readonly { readonly collection: string; readonly items: readonly { readonly id: string }[] }[],
  ): Loading {
    yield* this.load(
      exposures.flatMap(({ collection, items }) => {
        // One string for all: its hash is computed once.
        const scope = memoryScope(collection);
        return [sharedRef(collection), ...items.map(({ id }) => ({ scope, id }))];
      }),
    );
  }

  /** The bytes of an alias, of a label, of a source's record, or of a part of a ring. */
  value(ref: StateRef): Uint8Array | undefined {
    return this.#kept.get(ref) ?? undefined;
  }

  /** Keeps such bytes, at once and for the store. */
  keepValue(ref: StateRef, value: Uint8Array): void {
    this.#kept.set({ ...ref, value });
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
    return this.#episodes.get(id);
  }

  /** Keeps an episode's record as it will be when the entry is folded. */
  keepEpisode(id: string, record: EpisodeRecord): void {
    this.#keptEpisodes.set(id, record);
  }

  shared(collection: string): SharedRecord<Shared> {
    const known = this.#shared.get(collection);
    if (known) return known;
    const fresh = emptyShared(this.learner);
    this.#shared.set(collection, fresh);
    return fresh;
  }

  memory(collection: string, id: string): MemoryRecord<Memory> {
    return this.#memories.get(collection)?.get(id) as MemoryRecord<Memory>;
  }

  decodeMemory(bytes: Uint8Array): Memory {
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
    for (const write of this.#kept.writes()) this.#writes.push(write);
    for (const [collection, records] of this.#memories) {
      const scope = memoryScope(collection);
      for (const [id, record] of records) {
        this.#count(collection, id, record);
        if (this.#records) record.settle();
        this.#put({ scope, id }, record, () => record.encode());
      }
    }
    const { shared } = this.learner;
    for (const [collection, record] of this.#shared) {
      if (this.#records) settleShared(record, shared);
      this.#put(sharedRef(collection), record, () => encodeSharedRecord(record, shared));
    }
    const { stats } = this;
    this.#put(statsRef, stats, () => encodeStats(stats));
    return this.#writes;
  }

  #put(ref: StateRef, record: unknown, encode: () => Uint8Array): void {
    if (!this.#records) this.write(ref, encode());
    else if (!this.#records.get(ref)) this.#records.set({ ...ref, value: { record, encode } });
  }

  /** Counts a memory in its collection, and lists it in the band of its utility. */
  #count(collection: string, id: string, record: MemoryRecord<Memory>): void {
    const isShown = record.shown > 0;
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

  /** @param record that of the bytes, if it is decoded */
  #place(ref: StateRef, bytes: Uint8Array | undefined, record?: unknown): void {
    const { learner } = this;
    switch (ref.scope) {
      case SCOPES.stats:
        this.#stats = (record as StatsRecord) ?? (bytes ? decodeStats(bytes) : emptyStats(learner.id));
        if (this.#stats.learner !== learner.id) throw learnerMismatch(this.#stats.learner, learner.id);
        break;
      case SCOPES.episode:
        if (bytes) this.#episodes.set(ref.id, decodeEpisode(bytes));
        break;
      case SCOPES.shared:
        if (record) this.#shared.set(ref.id, record as SharedRecord<Shared>);
        else if (bytes) this.#shared.set(ref.id, decodeSharedRecord(privateCopy(bytes), learner));
        break;
      default: {
        const collection = collectionOf(ref.scope);
        if (collection !== undefined) {
          const memory = (record as MemoryRecord<Memory>) ?? new MemoryRecord(learner.memory, bytes);
          this.#memoriesIn(collection).set(ref.id, memory);
        } else if (bytes) this.#asked.set({ ...ref, value: bytes });
      }
    }
  }

  #memoriesIn(collection: string): Map<string, MemoryRecord<Memory>> {
    const known = this.#memories.get(collection);
    if (known) return known;
    const fresh = new Map<string, MemoryRecord<Memory>>();
    this.#memories.set(collection, fresh);
    return fresh;
  }
}
