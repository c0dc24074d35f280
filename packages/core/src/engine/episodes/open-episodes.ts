import { QavrError } from "../../errors/qavr-error.js";
import type { EpisodeRecord } from "../../ledger/episode-record.js";
import type { EpisodeState, RecordedExposure, ShownItem } from "../../ledger/events.js";
import { pairKey } from "../../store/state-address.js";
import type { LedgerEntry } from "../../store/store.js";
import { assertBatch } from "../../store/validate.js";

/** An exposure that is not durable yet: its candidates in columns, `shown` and `credited` may still change. */
export interface OpenExposure
  extends Omit<RecordedExposure, "candidates" | "groups" | "shown" | "dropped" | "shifts" | "credited"> {
  /** All candidates in the host's order; `candidate` of a shown item is its place here. */
  readonly ids: readonly string[];
  readonly similarities: Float64Array;
  readonly groups: Int32Array | undefined;
  /** Scores of all candidates, a copy; undefined where nothing learned took part. */
  readonly scores: readonly number[] | undefined;
  shown: readonly ShownItem[];
  dropped: readonly ShownItem[];
  credited: boolean;
}

/** A memory that an episode showed, by its id and its handle. */
export interface Shown {
  readonly id: string;
  readonly handle: string;
}

/** A run under way. */
export interface OpenEpisode {
  readonly id: string;
  readonly namespace: string;
  readonly aliases: Set<string>;
  /** Exposures of this process, in order; the first `recordedExposures` are durable. */
  readonly exposures: OpenExposure[];
  /** About how many bytes the record of all its exposures will take, with room for an outcome. */
  recordBytes: number;
  recordedExposures: number;
  recordedAliases: number;
  /** Its state in the ledger, and the alias under which it waits there; undefined before its first entry. */
  recordedState: { readonly state: EpisodeState; readonly suspendedAs: string } | undefined;
  /** The record of an earlier process (after a resume), else undefined. */
  readonly earlier: EpisodeRecord | undefined;
  /** Number of the handle of each memory shown so far, by collection and id. */
  readonly handles: Map<string, number>;
  /** Memories that it showed and that were forgotten since. */
  readonly forgotten: Shown[];
  /** The number that was given last; the next memory gets the one after it. */
  lastHandle: number;
  /** Entries whose commit failed: sent again first, unchanged, so that a commit that went through after all is recognised. */
  unsent: readonly LedgerEntry[];
  /** The outcome whose commit failed: the same outcome again is the same entry, so that a retry counts once. */
  unsentOutcome: LedgerEntry | undefined;
  touchedAt: number;
  /** Set while its last commit is under way. */
  closing: Promise<unknown> | undefined;
}

/** Bytes of an episode's record that exposures may take: a state larger than a store keeps could never be credited. */
const MAX_RECORD = 768 * 1024;
const EXPOSURE_BYTES = 192;
const ITEM_BYTES = 64;

/**
 * The runs under way in this process, oldest first. Bounded in number and age: an episode that is never ended is handed back to be
 * recorded as abandoned, without any timer.
 */
export class OpenEpisodes {
  readonly #byId = new Map<string, OpenEpisode>();
  readonly #byAlias = new Map<string, string>();
  readonly #limit: number;
  readonly #ttl: number;

  constructor(options: { readonly limit: number; readonly ttl: number }) {
    this.#limit = options.limit;
    this.#ttl = options.ttl;
  }

  get size(): number {
    return this.#byId.size;
  }

  all(): OpenEpisode[] {
    return [...this.#byId.values()];
  }

  /** The `count` that were touched longest ago and are not being written; none for a count below 1. */
  oldest(count: number): OpenEpisode[] {
    const found: OpenEpisode[] = [];
    for (const episode of this.#byId.values()) {
      if (found.length >= count) break;
      if (!episode.closing) found.push(episode);
    }
    return found;
  }

  /** @throws INVALID_ARGUMENT for an id that is taken: the exposures of the open episode would be lost in silence */
  create(id: string, namespace: string, now: number, earlier?: EpisodeRecord): OpenEpisode {
    if (this.#byId.has(id)) {
      throw new QavrError("INVALID_ARGUMENT", `createId gave ${id} again, an open episode. Give each a new id.`, {
        details: { option: "createId", received: id },
      });
    }
    const episode: OpenEpisode = {
      id,
      namespace,
      aliases: new Set(),
      exposures: [],
      recordBytes: 0,
      recordedExposures: 0,
      recordedAliases: 0,
      recordedState: earlier && { state: earlier.state, suspendedAs: earlier.suspendedAs },
      earlier,
      handles: new Map(),
      forgotten: [],
      lastHandle: 0,
      unsent: [],
      unsentOutcome: undefined,
      touchedAt: now,
      closing: undefined,
    };
    for (const { collection, items, vector, direction } of earlier?.exposures ?? []) {
      episode.recordBytes += recordBytesOf(
        (direction ?? vector).length,
        items.map(({ id }) => id),
      );
      for (const item of items) {
        episode.handles.set(pairKey(collection, item.id), item.handle);
        episode.lastHandle = Math.max(episode.lastHandle, item.handle);
      }
    }
    this.#byId.set(id, episode);
    return episode;
  }

  get(id: string): OpenEpisode | undefined {
    return this.#byId.get(id);
  }

  /** By id or alias, within a namespace. */
  find(namespace: string, reference: string): OpenEpisode | undefined {
    const direct = this.#byId.get(reference);
    if (direct?.namespace === namespace) return direct;
    const id = this.#byAlias.get(pairKey(namespace, reference));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** @throws LIMIT_EXCEEDED before anything is added */
  addAliases(episode: OpenEpisode, aliases: readonly string[]): void {
    // Each is a state, and all of them are written at once.
    assertBatch(episode.aliases.size + aliases.length, "list of aliases");
    for (const alias of aliases) {
      episode.aliases.add(alias);
      this.#byAlias.set(pairKey(episode.namespace, alias), episode.id);
    }
  }

  touch(episode: OpenEpisode, now: number): void {
    episode.touchedAt = now;
    this.#byId.delete(episode.id);
    this.#byId.set(episode.id, episode);
  }

  remove(episode: OpenEpisode): void {
    this.#byId.delete(episode.id);
    for (const alias of episode.aliases) {
      const key = pairKey(episode.namespace, alias);
      if (this.#byAlias.get(key) === episode.id) this.#byAlias.delete(key);
    }
  }

  /** Episodes past their time or beyond the limit, oldest first; those being written are left alone. */
  overdue(now: number): OpenEpisode[] {
    const overdue: OpenEpisode[] = [];
    let excess = this.#byId.size - this.#limit;
    for (const episode of this.#byId.values()) {
      // Its clock was set back: from then on its time begins.
      episode.touchedAt = Math.min(episode.touchedAt, now);
      if (excess <= 0 && now - episode.touchedAt <= this.#ttl) break;
      excess -= 1;
      if (!episode.closing) overdue.push(episode);
    }
    return overdue;
  }
}

/** Bytes that an exposure takes in its episode's record: the vector twice (as asked and as learned along), and each memory with its part. */
function recordBytesOf(dims: number, ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + ITEM_BYTES + nameBytes(id), EXPOSURE_BYTES + 2 * dims);
}

/** Most bytes of UTF-8 that a name takes. */
function nameBytes(name: string): number {
  return /^[ -~]*$/.test(name) ? name.length : 3 * name.length;
}

/** Counts an exposure against the room of its episode's record. `no longer`: this is the first that does not fit. */
export function hasRoomFor(episode: OpenEpisode, dims: number, ids: readonly string[]): "yes" | "no longer" | "no" {
  const hadRoom = episode.recordBytes <= MAX_RECORD;
  episode.recordBytes += recordBytesOf(dims, ids);
  return episode.recordBytes <= MAX_RECORD ? "yes" : hadRoom ? "no longer" : "no";
}

/** The number of a memory's handle, unique in its episode: 1 for `m1`. */
export function handleOf(episode: OpenEpisode, collection: string, id: string): number {
  const key = pairKey(collection, id);
  const known = episode.handles.get(key);
  if (known !== undefined) return known;
  episode.lastHandle += 1;
  episode.handles.set(key, episode.lastHandle);
  return episode.lastHandle;
}
