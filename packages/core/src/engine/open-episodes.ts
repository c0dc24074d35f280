import { QavrError } from "../errors/qavr-error.js";
import type { EpisodeRecord } from "../ledger/episode-record.js";
import type { EpisodeState, RecordedExposure, ShownItem } from "../ledger/events.js";
import type { LedgerEntry } from "../store/store.js";

/** An exposure that is not durable yet: its candidates in columns, `shown` and `credited` may still change. */
export interface OpenExposure extends Omit<RecordedExposure, "candidates" | "shown" | "credited"> {
  /** All candidates in the host's order; `candidate` of a shown item is its place here. */
  readonly ids: readonly string[];
  readonly similarities: Float64Array;
  shown: readonly ShownItem[];
  credited: boolean;
}

/** A run under way. */
export interface OpenEpisode {
  readonly id: string;
  readonly namespace: string;
  readonly aliases: Set<string>;
  /** Exposures of this process, in order; the first `recordedExposures` are durable. */
  readonly exposures: OpenExposure[];
  /** About how many bytes the record of all its exposures will take, with what an outcome adds. */
  recordBytes: number;
  recordedExposures: number;
  recordedAliases: number;
  /** Where the ledger says it stands, and under which alias it waits there; undefined before its first entry. */
  recordedState: { readonly state: EpisodeState; readonly parkedAs: string } | undefined;
  /** What an earlier process recorded (after a resume), else undefined. */
  readonly earlier: EpisodeRecord | undefined;
  /** Number of the short name of each memory shown so far, by collection and id. */
  readonly handles: Map<string, number>;
  /** The number that was given last; the next memory gets the one after it. */
  lastHandle: number;
  /** Entries whose commit failed: sent again first, unchanged, so that a commit that went through after all is recognised. */
  unsent: readonly LedgerEntry[];
  /** The outcome whose commit failed: the same words again are the same entry, so that a retry counts once. */
  unsentOutcome: LedgerEntry | undefined;
  touchedAt: number;
  /** Set while its last commit is under way. */
  closing: Promise<unknown> | undefined;
}

const EXPOSURE_BYTES = 192;
const ITEM_BYTES = 64;

/**
 * The runs under way in this process, oldest first. Bounded in number and age: what nobody ends is handed back to be recorded
 * as abandoned, without any timer.
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

  /** How many of a namespace are open. */
  count(namespace: string): number {
    let count = 0;
    for (const episode of this.#byId.values()) if (episode.namespace === namespace) count += 1;
    return count;
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

  /** @throws INVALID_ARGUMENT for an id that is taken: what the open episode has shown would be lost without a word */
  create(id: string, namespace: string, now: number, earlier?: EpisodeRecord): OpenEpisode {
    if (this.#byId.has(id)) {
      throw new QavrError(
        "INVALID_ARGUMENT",
        `createId gave ${id} again, which is an open episode. Give each a new id.`,
        { details: { option: "createId", received: id } },
      );
    }
    const episode: OpenEpisode = {
      id,
      namespace,
      aliases: new Set(),
      exposures: [],
      recordBytes: 0,
      recordedExposures: 0,
      recordedAliases: 0,
      recordedState: earlier && { state: earlier.state, parkedAs: earlier.parkedAs },
      earlier,
      handles: new Map(),
      lastHandle: 0,
      unsent: [],
      unsentOutcome: undefined,
      touchedAt: now,
      closing: undefined,
    };
    for (const { collection, items, vector } of earlier?.exposures ?? []) {
      episode.recordBytes += recordBytesOf(vector.length, items);
      for (const item of items) {
        episode.handles.set(handleKey(collection, item.id), item.handle);
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
    const id = this.#byAlias.get(aliasKey(namespace, reference));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  addAliases(episode: OpenEpisode, aliases: readonly string[]): void {
    for (const alias of aliases) {
      episode.aliases.add(alias);
      this.#byAlias.set(aliasKey(episode.namespace, alias), episode.id);
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
      const key = aliasKey(episode.namespace, alias);
      if (this.#byAlias.get(key) === episode.id) this.#byAlias.delete(key);
    }
  }

  /** Episodes past their time or beyond the limit, oldest first; those being written are left alone. */
  overdue(now: number): OpenEpisode[] {
    const overdue: OpenEpisode[] = [];
    let excess = this.#byId.size - this.#limit;
    for (const episode of this.#byId.values()) {
      if (excess <= 0 && now - episode.touchedAt <= this.#ttl) break;
      excess -= 1;
      if (!episode.closing) overdue.push(episode);
    }
    return overdue;
  }
}

/** What an exposure takes in its episode's record: the vector twice (as asked and as learned along), and each memory with its part. */
export function recordBytesOf(dims: number, items: readonly { readonly id: string }[]): number {
  return items.reduce((sum, { id }) => sum + ITEM_BYTES + nameBytes(id), EXPOSURE_BYTES + 2 * dims);
}

/** At most so many bytes of UTF-8. */
function nameBytes(name: string): number {
  return /^[ -~]*$/.test(name) ? name.length : 3 * name.length;
}

export function handleKey(collection: string, id: string): string {
  return `${collection.length}:${collection}${id}`;
}

function aliasKey(namespace: string, alias: string): string {
  return `${namespace.length}:${namespace}${alias}`;
}
