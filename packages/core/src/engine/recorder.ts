import { QavrError } from "../errors/qavr-error.js";
import { encodeEvent } from "../ledger/event-codec.js";
import type { EditPolicy, EpisodeState, ExposureEvent, LedgerEvent, RecordedExposure } from "../ledger/events.js";
import { type CommitReceipt, type LedgerEntry, type Reduce, STORE_LIMITS, type Store } from "../store/store.js";
import type { OpenEpisode, OpenExposure } from "./open-episodes.js";
import type { OutcomeSpool, RecordReceipt } from "./outcome-spool.js";

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
  ): Promise<RecordReceipt | undefined>;
  /** Sends again what could not be sent before, and nothing else. @throws what the store throws; the episode keeps it then */
  recordUnsent(episode: OpenEpisode): Promise<void>;
  /** Commits one entry to the store and turns a conflict into its error. */
  commit(namespace: string, entry: LedgerEntry): Promise<CommitReceipt>;
  /** The same for an outcome: while the store is out of reach it may wait in the spool. */
  commitOutcome(namespace: string, entry: LedgerEntry): Promise<RecordReceipt>;
}

export interface RecorderOptions {
  readonly store: Store;
  /** Where outcomes wait while the store is out of reach; undefined: nowhere, and they are refused. */
  readonly spool: OutcomeSpool | undefined;
  readonly reduce: Reduce;
  readonly onEdit: EditPolicy;
  readonly recordedCandidates: number;
  readonly now: () => number;
  readonly createId: () => string;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, spool, reduce, onEdit, recordedCandidates, now, createId } = options;

  const commitAll = (namespace: string, entries: readonly LedgerEntry[]): Promise<readonly CommitReceipt[]> =>
    store.commit(namespace, entries, reduce);

  const commitOrSpool = (namespace: string, entries: readonly LedgerEntry[]): Promise<readonly RecordReceipt[]> =>
    spool ? spool.commit(namespace, entries) : commitAll(namespace, entries);

  /** An entry, or several that say the same where one would be more than a store keeps: a run may retrieve hundreds of times. */
  const toEntries = (event: ExposureEvent): readonly LedgerEntry[] => {
    // The key is drawn once and stays with the entry. Made from counts, it would meet that of another process's entry.
    const entry = toEntry(`exposure:${event.episode}:${createId()}`, event, now());
    const { exposures } = event;
    if (entry.payload.length <= STORE_LIMITS.payloadBytes || exposures.length === 1) return [entry];
    const half = exposures.length >> 1;
    return [
      // Not over before the last of them.
      ...toEntries({ ...event, exposures: exposures.slice(0, half), state: "open", parkedAs: undefined }),
      ...toEntries({ ...event, exposures: exposures.slice(half), aliases: [] }),
    ];
  };

  /** Commits entries of an episode; those that failed before are not sent again then. */
  const send = async <Receipt>(
    episode: OpenEpisode,
    entries: readonly LedgerEntry[],
    commit: (namespace: string, entries: readonly LedgerEntry[]) => Promise<readonly Receipt[]>,
  ): Promise<readonly Receipt[]> => {
    const receipts = await commit(episode.namespace, entries);
    episode.unsent = episode.unsent.filter((entry) => !entries.includes(entry));
    return receipts;
  };

  return {
    async record(episode, state, last, parkedAs) {
      const exposures = episode.exposures.slice(episode.recordedExposures);
      const aliases = [...episode.aliases].slice(episode.recordedAliases);
      const durable = (episode.earlier?.exposures.length ?? 0) + episode.recordedExposures;
      const { recordedState } = episode;
      const stands = recordedState?.state === state && recordedState.parkedAs === (parkedAs ?? "");
      const isNew = !stands || exposures.length + aliases.length > 0;
      // An episode that never showed anything leaves no trace, unless somebody has spoken about it: what it shows later is credited, and
      // whoever asks is told how it ended.
      if (isNew && (durable + exposures.length > 0 || last || recordedState)) {
        const event: ExposureEvent = {
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
        episode.unsent = [...episode.unsent, ...toEntries(event)];
      }
      const entries = last ? [...episode.unsent, last] : episode.unsent;
      if (entries.length === 0) return undefined;
      // Who parks an episode wants to find it again from another process: in a spool of this one nobody would.
      const receipts = await send(episode, entries, state === "parked" ? commitAll : commitOrSpool);
      const receipt = last && receipts.at(-1);
      if (receipt) assertNoConflict(receipt, last);
      return receipt;
    },

    async recordUnsent(episode) {
      if (episode.unsent.length > 0) await send(episode, episode.unsent, commitAll);
    },

    async commit(namespace, entry) {
      const [receipt] = await commitAll(namespace, [entry]);
      assertNoConflict(receipt as CommitReceipt, entry);
      return receipt as CommitReceipt;
    },

    async commitOutcome(namespace, entry) {
      const [receipt] = await commitOrSpool(namespace, [entry]);
      assertNoConflict(receipt as RecordReceipt, entry);
      return receipt as RecordReceipt;
    },
  };
}

export function toEntry(key: string, event: LedgerEvent, at: number): LedgerEntry {
  return { key, type: event.type, at, payload: encodeEvent(event) };
}

function assertNoConflict(receipt: RecordReceipt, entry: LedgerEntry): void {
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
