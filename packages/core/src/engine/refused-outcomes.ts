import { type ErrorCode, QavrError } from "../errors/qavr-error.js";
import { decodeEvent, encodeEvent } from "../ledger/event-codec.js";
import type { OutcomeEvent } from "../ledger/events.js";
import { memoryScope } from "../ledger/state-keys.js";
import { plainest } from "../ledger/used.js";
import { isOutOfReach } from "../resilience/store-failure.js";
import type { LedgerEntry, SequencedEntry, TakenKey } from "../store/store.js";
import { takenBy } from "../store/write-overlay.js";
import type { CheckedOutcome } from "./check.js";
import type { RecordedEpisode } from "./episodes/find-episode.js";
import type { Shown } from "./episodes/open-episodes.js";
import { idOf, shownIn, shownInRecord } from "./episodes/shown.js";
import type { EngineParts } from "./parts.js";
import { conflict, outcomeKey } from "./recorder.js";
import type { OutcomeReceipt } from "./types.js";

const DAY = 86_400_000;

/** @param found the recorded episode, if there is one. @throws UNKNOWN_EPISODE, OUTCOME_TOO_LATE */
export function refuseReport(
  { outcomeWindow, now }: EngineParts,
  namespace: string,
  reference: string,
  found: RecordedEpisode | undefined,
): never {
  if (!found) {
    throw new QavrError(
      "UNKNOWN_EPISODE",
      `No episode ${reference} is open or recorded in namespace ${namespace}, or the run was shown no memory. Check the run id, and name the namespace it ran in.`,
      { details: { reference, namespace } },
    );
  }
  const age = now() - found.record.lastAt;
  throw new QavrError(
    "OUTCOME_TOO_LATE",
    `Episode ${found.id} ended ${Math.floor(age / DAY)} days ago; outcomes are accepted for ${outcomeWindow / DAY}. Raise outcomeWindow to accept it.`,
    { details: { episode: found.id, age, window: outcomeWindow } },
  );
}

/** Present knowledge of an episode that an outcome names. */
interface NamedEpisode {
  /** Undefined where a compaction has dropped its record. */
  readonly id: string | undefined;
  readonly shown: readonly Shown[];
  readonly forgotten: readonly Shown[];
  /** Of its exposures, while it is recorded. */
  readonly collections: readonly string[];
}

/** Refusals of an outcome that may have been recorded before. */
const REFUSALS: readonly ErrorCode[] = ["UNKNOWN_EPISODE", "NOT_SHOWN", "OUTCOME_TOO_LATE", "IDEMPOTENCY_CONFLICT"];

/**
 * Answers an outcome that was refused, if it may have an answer after all:
 * - Its idempotency key has an entry: the answer is the first receipt, in any state of the episode. The key is looked up after the
 *   refusal only, since a commit looks up its keys itself.
 * - It names memories that were forgotten after they were shown: it is recorded without their names.
 *
 * @param work the work that was refused; gets names to leave out of the outcome
 * @throws the refusal, IDEMPOTENCY_CONFLICT for another outcome under the key, and the store's codes
 */
export async function reconsidered<Receipt>(
  parts: EngineParts,
  namespace: string,
  reference: string,
  outcome: CheckedOutcome,
  error: unknown,
  work: (forgotten: readonly string[]) => Promise<Receipt>,
): Promise<Receipt | OutcomeReceipt> {
  if (!QavrError.isInstance(error)) throw error;
  if (!REFUSALS.includes(error.code) && !(parts.queue && isOutOfReach(error))) throw error;
  const ending = outcome.idempotencyKey === undefined ? undefined : parts.open.find(namespace, reference)?.closing;
  await ending?.catch(() => undefined);
  const episode = await namedEpisode(parts, namespace, reference, error.code);
  const first = await firstReceipt(parts, namespace, reference, outcome, episode);
  if (first) return first;
  // The episode is open again if that end failed.
  if (ending && error.code === "UNKNOWN_EPISODE") return work([]);
  if (error.code !== "NOT_SHOWN") throw error;
  const forgotten = await forgottenNames(parts, namespace, outcome, episode);
  if (forgotten.length === 0) throw error;
  return work(forgotten);
}

/**
 * The receipt of an outcome that was recorded before under its idempotency key; undefined without a key, and for one that is free.
 * After a compaction has dropped both the entry and the episode's record, the key alone is compared, and the receipt names the episode
 * as the caller does.
 *
 * @throws IDEMPOTENCY_CONFLICT for another outcome under this key, and the store's codes
 */
async function firstReceipt(
  parts: EngineParts,
  namespace: string,
  reference: string,
  outcome: CheckedOutcome,
  episode: NamedEpisode,
): Promise<OutcomeReceipt | undefined> {
  if (outcome.idempotencyKey === undefined) return undefined;
  const key = outcomeKey(outcome.idempotencyKey);
  const found = await findEntry(parts, namespace, key);
  if (!found) return undefined;
  const { taken, entry } = found;
  const first = entry && decodeEvent(entry.type, entry.payload);
  const isSame =
    first?.type === "outcome"
      ? taken.hasPayload(encodeEvent(askedLike(first, outcome, episode)))
      : episode.id === undefined || candidates(parts, reference, outcome, episode).some(taken.hasPayload);
  if (!isSame) throw conflict(key, taken.seq);
  const id = first?.type === "outcome" ? first.episode : (episode.id ?? reference);
  return { status: taken.seq === 0 ? "queued" : "duplicate", episode: id, seq: taken.seq };
}

/** Names in an outcome that its episode does not have now, of memories that it has shown or that were forgotten at some time. */
async function forgottenNames(
  { store, states }: EngineParts,
  namespace: string,
  { helpful, harmful, neutral, used = [] }: CheckedOutcome,
  { shown, forgotten, collections }: NamedEpisode,
): Promise<readonly string[]> {
  const named = [...helpful, ...harmful, ...neutral, ...used.map(({ id }) => id)];
  const unknown = [...new Set(named)].filter((name) => idOf(name, shown) === undefined);
  const found = unknown.filter((name) => idOf(name, forgotten) !== undefined);
  for (const collection of collections) {
    const records = await store.readStates(namespace, memoryScope(collection), unknown);
    found.push(...unknown.filter((_, place) => records[place] && states.memory(records[place]).forgottenAt > 0));
  }
  return found;
}

/** The entry of a key in the ledger or, without a place, in the outbox. Only a compacted one has no entry. */
async function findEntry(
  { store, queue }: EngineParts,
  namespace: string,
  key: string,
): Promise<{ readonly taken: TakenKey; readonly entry: LedgerEntry | undefined } | undefined> {
  const waiting = await queue?.find(namespace, key);
  if (waiting) await queue?.drain();
  try {
    const taken = await store.findKey(namespace, key);
    if (taken) {
      const page: readonly SequencedEntry[] = await store.readEntries(namespace, { after: taken.seq - 1, limit: 1 });
      const entry = page.find(({ seq }) => seq === taken.seq);
      return { taken: entry ? takenBy(entry) : taken, entry };
    }
  } catch (error) {
    if (!waiting || !QavrError.isInstance(error) || !isOutOfReach(error)) throw error;
  }
  return waiting && { taken: takenBy({ ...waiting, seq: 0 }), entry: waiting };
}

async function namedEpisode(
  { open, states }: EngineParts,
  namespace: string,
  reference: string,
  refusal: ErrorCode,
): Promise<NamedEpisode> {
  const running = open.find(namespace, reference);
  if (running) return { id: running.id, shown: shownIn(running), forgotten: running.forgotten, collections: [] };
  const recorded = await states.resolve(namespace, reference).catch((error: unknown) => {
    // Which of its memories were forgotten is known from the record alone.
    if (refusal === "NOT_SHOWN" || !QavrError.isInstance(error) || !isOutOfReach(error)) throw error;
  });
  const { exposures = [] } = recorded?.record ?? {};
  return {
    id: recorded?.id,
    shown: recorded ? shownInRecord(recorded.record) : [],
    forgotten: [],
    collections: [...new Set(exposures.map(({ collection }) => collection))],
  };
}

/**
 * The outcome as the event that it would have been at the time of `first`, as nearly as can be known. Equal to `first` if the
 * caller repeats the same outcome.
 */
function askedLike(first: OutcomeEvent, outcome: CheckedOutcome, episode: NamedEpisode): OutcomeEvent {
  const { idempotencyKey: _, used, ...said } = outcome;
  const read = (names: readonly string[], ids: readonly string[]): readonly string[] =>
    sayTheSame(names, ids, episode) ? ids : names;
  const usesAgree = used && first.used && sayTheSame(used.map(idOfUse), first.used.map(idOfUse), episode);
  return {
    ...said,
    type: "outcome",
    episode: episode.id ?? first.episode,
    rules: first.rules,
    helpful: read(said.helpful, first.helpful),
    harmful: read(said.harmful, first.harmful),
    neutral: read(said.neutral, first.neutral),
    used: usesAgree ? first.used : used,
  };
}

const idOfUse = ({ id }: { readonly id: string }): string => id;

/** True when every known name is among the recorded ids, and there are enough forgotten names for the other ids. */
function sayTheSame(
  names: readonly string[],
  ids: readonly string[],
  { shown, forgotten }: Pick<NamedEpisode, "shown" | "forgotten">,
): boolean {
  const known = names.map((name) => (ids.includes(name) ? name : (idOf(name, shown) ?? idOf(name, forgotten))));
  const lost = names.filter((_, place) => !ids.includes(known[place] ?? ""));
  const missing = ids.filter((id) => !known.includes(id));
  return missing.length <= lost.length && lost.every((name) => idOf(name, shown) === undefined);
}

/** Payloads that the outcome may have had, for an entry of which only a digest is left. */
function candidates(
  { governance }: EngineParts,
  reference: string,
  { idempotencyKey: _, ...said }: CheckedOutcome,
  episode: NamedEpisode,
): Uint8Array[] {
  const payload = (rules: OutcomeEvent["rules"], resolve: (name: string) => string[]): Uint8Array => {
    const ids = (names: readonly string[]): string[] => [...new Set(names.flatMap(resolve))];
    const used =
      said.used && plainest(said.used.flatMap(({ id, by }) => resolve(id).map((known) => ({ id: known, by }))));
    const named = { helpful: ids(said.helpful), harmful: ids(said.harmful), neutral: ids(said.neutral), used };
    return encodeEvent({ ...said, ...named, type: "outcome", episode: episode.id ?? reference, rules });
  };
  const known = (name: string): string[] => [idOf(name, episode.shown) ?? name];
  const left = (name: string): string[] => [idOf(name, episode.shown) ?? []].flat();
  return [governance?.rulesFor(said.tier), undefined].flatMap((rules) => [known, left].map((as) => payload(rules, as)));
}
