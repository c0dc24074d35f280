import type { Learner } from "../learners/learner.js";
import { decodeEpisode, type EpisodeRecord } from "../ledger/episode-record.js";
import { MemoryRecord } from "../ledger/memory-record.js";
import { decodeSharedRecord, type SharedRecord } from "../ledger/shared-record.js";
import { memoryScope, SCOPES, statsRef } from "../ledger/state-keys.js";
import { decodeStats, type StatsRecord } from "../ledger/stats-record.js";
import type { Store } from "../store/store.js";

const decoder = new TextDecoder();

/**
 * Reads states and decodes each array of bytes once: stores hand out the same array while a state is unchanged, so the decoded
 * form is remembered by its identity and goes when the store's cache lets go of the bytes.
 */
export class StateReader<Shared, Memory> {
  readonly #store: Store;
  readonly #learner: Learner<Shared, Memory>;
  readonly #decoded = new WeakMap<Uint8Array, unknown>();

  constructor(store: Store, learner: Learner<Shared, Memory>) {
    this.#store = store;
    this.#learner = learner;
  }

  async stats(namespace: string): Promise<StatsRecord | undefined> {
    const [bytes] = await this.#store.readStates(namespace, statsRef.scope, [statsRef.id]);
    return this.#once(bytes, decodeStats);
  }

  async shared(namespace: string, collection: string): Promise<SharedRecord<Shared> | undefined> {
    const [bytes] = await this.#store.readStates(namespace, SCOPES.shared, [collection]);
    return this.#once(bytes, (found) => decodeSharedRecord(found, this.#learner));
  }

  /** The learner's part of each memory's state; undefined where nothing was learned. */
  async learned(namespace: string, collection: string, ids: readonly string[]): Promise<(Memory | undefined)[]> {
    const found = await this.#store.readStates(namespace, memoryScope(collection), ids);
    const learned: (Memory | undefined)[] = new Array(found.length);
    for (let i = 0; i < found.length; i++) learned[i] = this.memory(found[i])?.learned;
    return learned;
  }

  memory(bytes: Uint8Array | undefined): MemoryRecord<Memory> | undefined {
    return this.#once(bytes, (found) => new MemoryRecord(this.#learner.memory, found));
  }

  async episode(namespace: string, id: string): Promise<EpisodeRecord | undefined> {
    const [bytes] = await this.#store.readStates(namespace, SCOPES.episode, [id]);
    return bytes && decodeEpisode(bytes);
  }

  /** The recorded episode's id for an id or alias. */
  async resolve(namespace: string, reference: string): Promise<{ id: string; record: EpisodeRecord } | undefined> {
    const direct = await this.episode(namespace, reference);
    if (direct) return { id: reference, record: direct };
    const [alias] = await this.#store.readStates(namespace, SCOPES.alias, [reference]);
    if (!alias) return undefined;
    const id = decoder.decode(alias);
    const record = await this.episode(namespace, id);
    return record && { id, record };
  }

  #once<T>(bytes: Uint8Array | undefined, decode: (bytes: Uint8Array) => T): T | undefined {
    if (!bytes) return undefined;
    const known = this.#decoded.get(bytes);
    if (known !== undefined) return known as T;
    const fresh = decode(bytes);
    this.#decoded.set(bytes, fresh);
    return fresh;
  }
}
