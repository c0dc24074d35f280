import { dequantise } from "../embedding/quantise.js";
import type { Learner } from "../learners/learner.js";
import { stateAddress } from "../store/state-address.js";
import type { SequencedEntry, StateRef, StateWrite } from "../store/store.js";
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
  memoryRef,
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

/** The states that one entry touches, and their changes. The store's own bytes are copied before a change. */
export class Draft<Shared, Memory> {
  readonly learner: Learner<Shared, Memory>;
  readonly seq: number;
  readonly at: number;
  /** There after the first `load`, which asks for it. */
  declare stats: StatsRecord;
  #episodes = new Map<string, EpisodeRecord>();
  #values = new Map<string, Uint8Array>();
  protected readonly collections: Map<string, SharedRecord<Shared>> = new Map<string, SharedRecord<Shared>>();
  /** By scope and id. */
  #memories = new Map<string, Map<string, MemoryRecord<Memory>>>();
  #loaded = new Set<string>();
  #keptEpisodes = new Map<string, EpisodeRecord>();
  #keptValues = new Map<string, { readonly ref: StateRef; readonly value: Uint8Array }>();
  #writes: StateWrite[] = [];

  constructor(learner: Learner<Shared, Memory>, entry: SequencedEntry) {
    this.learner = learner;
    this.seq = entry.seq;
    this.at = entry.at;
  }

  /** Asks the store for states that are not here yet. */
  *load(refs: readonly StateRef[]): Loading {
    const missing = refs.filter((ref) => {
      const key = stateAddress(ref);
      if (this.#loaded.has(key)) return false;
      this.#loaded.add(key);
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
      exposures.flatMap(({ collection, items }) => [
        sharedRef(collection),
        ...items.map(({ id }) => memoryRef(collection, id)),
      ]),
    );
  }

  /** The bytes of an alias, of a label, of a source's record, or of a part of a ring. */
  value(ref: StateRef): Uint8Array | undefined {
    return this.#values.get(stateAddress(ref));
  }

  /** Keeps such bytes, at once and for the store. */
  keepValue(ref: StateRef, value: Uint8Array): void {
    const key = stateAddress(ref);
    this.#loaded.add(key);
    this.#values.set(key, value);
    this.#keptValues.set(key, { ref, value });
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
    const known = this.collections.get(collection);
    if (known) return known;
    const fresh = emptyShared(this.learner);
    this.collections.set(collection, fresh);
    return fresh;
  }

  memory(collection: string, id: string): MemoryRecord<Memory> {
    return this.#memories.get(memoryScope(collection))?.get(id) as MemoryRecord<Memory>;
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
    for (const { ref, value } of this.#keptValues.values()) this.write(ref, value);
    for (const [scope, records] of this.#memories) {
      const collection = collectionOf(scope) as string;
      for (const [id, record] of records) {
        this.#count(collection, id, record);
        this.put({ scope, id }, record, () => record.encode());
      }
    }
    const { learner, stats } = this;
    for (const [collection, record] of this.collections) {
      this.put(sharedRef(collection), record, () => encodeSharedRecord(record, learner.shared));
    }
    this.put(statsRef, stats, () => encodeStats(stats));
    return this.#writes;
  }

  protected put(ref: StateRef, _record: object, encode: () => Uint8Array): void {
    this.write(ref, encode());
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

  #place(ref: StateRef, bytes: Uint8Array | undefined): void {
    const { learner } = this;
    switch (ref.scope) {
      case SCOPES.stats:
        this.stats = bytes ? decodeStats(bytes) : emptyStats(learner.id);
        if (this.stats.learner !== learner.id) throw learnerMismatch(this.stats.learner, learner.id);
        break;
      case SCOPES.episode:
        if (bytes) this.#episodes.set(ref.id, decodeEpisode(bytes));
        break;
      case SCOPES.shared:
        if (bytes) this.collections.set(ref.id, decodeSharedRecord(privateCopy(bytes), learner));
        break;
      default:
        if (collectionOf(ref.scope) !== undefined) {
          this.memoriesIn(ref.scope).set(ref.id, new MemoryRecord(learner.memory, bytes));
        } else if (bytes) this.#values.set(stateAddress(ref), bytes);
    }
  }

  protected memoriesIn(scope: string): Map<string, MemoryRecord<Memory>> {
    const known = this.#memories.get(scope);
    if (known) return known;
    const fresh = new Map<string, MemoryRecord<Memory>>();
    this.#memories.set(scope, fresh);
    return fresh;
  }
}
