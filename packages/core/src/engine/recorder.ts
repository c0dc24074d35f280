import { QavrError } from "../errors/qavr-error.js";
import { encodeEvent } from "../ledger/event-codec.js";
import type {
  EditPolicy,
  EpisodeState,
  ExposureEvent,
  OutcomeEvent,
  RecordedExposure,
  ShownItem,
} from "../ledger/events.js";
import type { OutboxQueue, QueueReceipt } from "../store/store.js";
import { type CommitReceipt, type LedgerEntry, type Reduce, STORE_LIMITS, type Store } from "../store/store.js";
import type { OpenEpisode, OpenExposure } from "./episodes/open-episodes.js";

/** The receipt of an entry whose key was free, or has the same entry. */
export type RecordedReceipt =
  | Extract<QueueReceipt, { status: "queued" }>
  | (CommitReceipt & { status: "committed" | "duplicate" });

/** Turns open episodes into ledger entries and commits them. */
export interface Recorder {
  /**
   * Commits the part of an episode that is not durable yet, then the entry given. On failure the episode keeps everything, and the
   * same entries are sent again first next time.
   */
  record(
    episode: OpenEpisode,
    state: EpisodeState,
    last?: LedgerEntry,
    suspendedAs?: string,
  ): Promise<RecordedReceipt | undefined>;
  /** Sends again the entries whose commit failed before, and nothing else. @throws the store's codes; the episode keeps them then */
  recordUnsent(episode: OpenEpisode): Promise<void>;
  /** Commits an outcome and turns a conflict into its error. It may wait in the outbox while the store is out of reach. */
  commit(namespace: string, outcome: LedgerEntry): Promise<RecordedReceipt>;
}

export interface RecorderOptions {
  readonly store: Store;
  /** The queue of outcomes while the store is out of reach; without it they are refused. */
  readonly queue: OutboxQueue | undefined;
  readonly reduce: Reduce;
  readonly onEdit: EditPolicy;
  readonly recordedCandidates: number;
  readonly now: () => number;
  readonly createId: () => string;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, queue, reduce, onEdit, recordedCandidates, now, createId } = options;

  const commitAll = (namespace: string, entries: readonly LedgerEntry[]): Promise<readonly CommitReceipt[]> =>
    store.commit(namespace, entries, reduce);

  const commitOrQueue = (namespace: string, entries: readonly LedgerEntry[]): Promise<readonly QueueReceipt[]> =>
    queue ? queue.commit(namespace, entries) : commitAll(namespace, entries);

  /** An entry, or several where one would be larger than a store keeps: a run may retrieve hundreds of times. */
  const toEntries = (event: ExposureEvent): readonly LedgerEntry[] => {
    // The key is drawn once and stays with the entry. Made from counts, it would meet that of another process's entry.
    const entry = toEntry(createId(), event, now());
    const { exposures } = event;
    if (entry.payload.length <= STORE_LIMITS.payloadBytes || exposures.length === 1) return [entry];
    const half = exposures.length >> 1;
    return [
      // The episode is not over before the last of them.
      ...toEntries({ ...event, exposures: exposures.slice(0, half), state: "open", suspendedAs: undefined }),
      ...toEntries({ ...event, exposures: exposures.slice(half), aliases: [], continues: 0 }),
    ];
  };

  /** Commits entries of an episode and removes them from its unsent ones. */
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
    async record(episode, state, last, suspendedAs) {
      const exposures = episode.exposures.slice(episode.recordedExposures);
      const aliases = [...episode.aliases].slice(episode.recordedAliases);
      const durable = (episode.earlier?.exposures.length ?? 0) + episode.recordedExposures;
      const { recordedState } = episode;
      const unchanged = recordedState?.state === state && recordedState.suspendedAs === (suspendedAs ?? "");
      const isNew = !unchanged || exposures.length + aliases.length > 0;
      // An episode that never showed anything leaves no trace, unless it was reported on: later exposures of it are credited, and
      // explain() answers how it ended.
      if (isNew && (durable + exposures.length > 0 || last || recordedState)) {
        const event: ExposureEvent = {
          type: "exposure",
          episode: episode.id,
          state,
          aliases,
          suspendedAs,
          continues: episode.earlier ? durable : 0,
          onEdit,
          exposures: exposures.map((exposure) => recorded(exposure, recordedCandidates)),
        };
        // Counted before the store answers: exposures that arrive meanwhile belong to the next entry.
        episode.recordedExposures = episode.exposures.length;
        episode.recordedAliases = episode.aliases.size;
        episode.recordedState = { state, suspendedAs: suspendedAs ?? "" };
        episode.unsent = [...episode.unsent, ...toEntries(event)];
      }
      const entries = last ? [...episode.unsent, last] : episode.unsent;
      if (entries.length === 0) return undefined;
      // Another process resumes a suspended episode from the store, so it must not wait in this one's outbox.
      const receipts = await send(episode, entries, state === "suspended" ? commitAll : commitOrQueue);
      const receipt = last && receipts.at(-1);
      if (receipt) assertNoConflict(receipt, last);
      return receipt;
    },

    async recordUnsent(episode) {
      if (episode.unsent.length > 0) await send(episode, episode.unsent, commitAll);
    },

    async commit(namespace, entry) {
      const [receipt] = (await commitOrQueue(namespace, [entry])) as [QueueReceipt];
      assertNoConflict(receipt, entry);
      return receipt;
    },
  };
}

export function toEntry(key: string, event: ExposureEvent | OutcomeEvent, at: number): LedgerEntry {
  return { key, type: event.type, at, payload: encodeEvent(event) };
}

/** The ledger's key for an application's idempotency key. */
export function outcomeKey(idempotencyKey: string): string {
  return `outcome:key:${idempotencyKey}`;
}

function assertNoConflict(receipt: QueueReceipt, { key }: LedgerEntry): asserts receipt is RecordedReceipt {
  if (receipt.status === "conflict") throw conflict(key, receipt.seq);
}

/** For an idempotency key that another outcome has used, at place `seq`. */
export function conflict(key: string, seq: number): QavrError {
  return new QavrError(
    "IDEMPOTENCY_CONFLICT",
    `The idempotency key ${key} was used for another outcome (entry ${seq}). Choose a new key.`,
    { details: { key, seq } },
  );
}

/** The exposure with at most `limit` candidates: the first ones and everything that was ranked into the list. */
export function recorded(open: OpenExposure, limit: number): RecordedExposure {
  const { ids, similarities, groups, scores, shown, dropped, ...exposure } = open;
  const kept = Math.min(limit, ids.length);
  const places = Array.from({ length: kept }, (_, place) => place);
  const listed = [...shown, ...dropped];
  for (const { index } of listed) if (index >= kept) places.push(index);
  const placed = (item: ShownItem): ShownItem => ({ ...item, candidate: places.indexOf(item.index) });
  return {
    ...exposure,
    candidates: places.map((index) => ({ id: ids[index] as string, similarity: similarities[index] as number })),
    groups: groups ? places.map((index) => groups[index] as number) : [],
    shown: shown.map(placed),
    dropped: dropped.map(placed),
    shifts: scores
      ? places
          .filter((index) => listed.every((item) => item.index !== index))
          .map((index) => (scores[index] as number) - (similarities[index] as number))
      : [],
  };
}
