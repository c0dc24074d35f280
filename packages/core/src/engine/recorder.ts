import { QavrError } from "../errors/qavr-error.js";
import { encodeEvent } from "../ledger/event-codec.js";
import type { EditPolicy, EpisodeState, LedgerEvent, RecordedExposure } from "../ledger/events.js";
import type { CommitReceipt, LedgerEntry, Reduce, Store } from "../store/store.js";
import type { OpenEpisode, OpenExposure } from "./open-episodes.js";

/** Turns what is open into ledger entries and commits them. */
export interface Recorder {
  /**
   * Commits what is not durable yet of an episode, then the entry given. On failure the episode keeps everything, and the
   * same entries are sent again first next time.
   */
  record(
    episode: OpenEpisode,
    state: EpisodeState,
    last?: LedgerEntry,
    parkedAs?: string,
  ): Promise<CommitReceipt | undefined>;
  /** Commits one entry and turns a conflict into its error. */
  commit(namespace: string, entry: LedgerEntry): Promise<CommitReceipt>;
}

export interface RecorderOptions {
  readonly store: Store;
  readonly reduce: Reduce;
  readonly onEdit: EditPolicy;
  readonly recordedCandidates: number;
  readonly now: () => number;
  readonly createId: () => string;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, reduce, onEdit, recordedCandidates, now, createId } = options;

  async function commitAll(namespace: string, entries: readonly LedgerEntry[]): Promise<readonly CommitReceipt[]> {
    try {
      return await store.commit(namespace, entries, reduce);
    } catch (error) {
      throw asStoreError(error, store.name);
    }
  }

  return {
    async record(episode, state, last, parkedAs) {
      const exposures = episode.exposures.slice(episode.recordedExposures);
      const aliases = [...episode.aliases].slice(episode.recordedAliases);
      const durable = (episode.earlier?.exposures.length ?? 0) + episode.recordedExposures;
      const { recordedState } = episode;
      const stands = recordedState?.state === state && recordedState.parkedAs === (parkedAs ?? "");
      const isNew = !stands || exposures.length + aliases.length > 0;
      // An episode that never showed anything leaves no trace, unless somebody has spoken about it: what it shows later is credited.
      if (isNew && (durable + exposures.length > 0 || last)) {
        // The key is drawn once and stays with the entry. Made from counts, it would meet that of another process's entry.
        const key = `exposure:${episode.id}:${createId()}`;
        const event: LedgerEvent = {
          type: "exposure",
          episode: episode.id,
          state,
          aliases,
          parkedAs,
          onEdit,
          exposures: exposures.map((exposure) => recorded(exposure, recordedCandidates)),
        };
        // Counted before the store answers: exposures that arrive meanwhile belong to the next entry.
        episode.recordedExposures = episode.exposures.length;
        episode.recordedAliases = episode.aliases.size;
        episode.recordedState = { state, parkedAs: parkedAs ?? "" };
        episode.unsent = [...episode.unsent, toEntry(key, event, now())];
      }
      const entries = last ? [...episode.unsent, last] : episode.unsent;
      if (entries.length === 0) return undefined;
      const receipts = await commitAll(episode.namespace, entries);
      episode.unsent = episode.unsent.filter((entry) => !entries.includes(entry));
      const receipt = last && receipts.at(-1);
      if (receipt) assertNoConflict(receipt, last);
      return receipt;
    },

    async commit(namespace, entry) {
      const [receipt] = await commitAll(namespace, [entry]);
      assertNoConflict(receipt as CommitReceipt, entry);
      return receipt as CommitReceipt;
    },
  };
}

export function toEntry(key: string, event: LedgerEvent, at: number): LedgerEntry {
  return { key, type: event.type, at, payload: encodeEvent(event) };
}

/** A store's failure with a code, whatever the store threw. */
export function asStoreError(error: unknown, store: string): QavrError {
  if (QavrError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new QavrError("STORE_FAILED", `The ${store} store failed: ${reason}`, { cause: error, details: { store } });
}

function assertNoConflict(receipt: CommitReceipt, entry: LedgerEntry): void {
  if (receipt.status !== "conflict") return;
  throw new QavrError(
    "IDEMPOTENCY_CONFLICT",
    `The idempotency key ${entry.key} was used for another outcome (entry ${receipt.seq}). Repeat the same outcome, or choose a new key for a new one.`,
    { details: { key: entry.key, seq: receipt.seq } },
  );
}

/** The exposure with at most `limit` candidates: the first ones and everything shown. */
function recorded({ ids, similarities, shown, ...exposure }: OpenExposure, limit: number): RecordedExposure {
  const kept = Math.min(limit, ids.length);
  const places = Array.from({ length: kept }, (_, place) => place);
  for (const { index } of shown) if (index >= kept) places.push(index);
  const placeOf = new Map(places.map((index, place) => [index, place]));
  return {
    ...exposure,
    candidates: places.map((index) => ({ id: ids[index] as string, similarity: similarities[index] as number })),
    shown: shown.map((item) => ({ ...item, candidate: placeOf.get(item.index) as number })),
  };
}
