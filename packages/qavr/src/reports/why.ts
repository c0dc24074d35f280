import type { EpisodeView, ExplainedItem, ExposureView, HistoryEvent, MemoryView, NotShown } from "@qavr/core";
import { CommandError } from "../exit-codes.js";
import type { Ledger } from "../open-ledger.js";
import { count, nameOf } from "../terminal/text.js";
import { collectionNamed, collectionsOf } from "./collections.js";
import { type Share, wilson } from "./interval.js";
import { rewardsIn } from "./judged-runs.js";
import { type MemoryRow, PAGE, rowOf } from "./memories.js";

/** A memory as one retrieval found it. */
export interface Appearance {
  readonly episode: string;
  readonly at: number;
  readonly heldOut: boolean;
  /** Memories that were shown. */
  readonly places: number;
  readonly shown?: ExplainedItem;
  readonly notShown?: NotShown;
  /** Score of the last memory shown, to compare with. */
  readonly lastScore?: number;
}

/** Everything about one run, or about one memory. */
export type WhyReport =
  | { readonly kind: "run"; readonly namespace: string; readonly run: EpisodeView }
  | {
      readonly kind: "memory";
      readonly namespace: string;
      readonly memory: MemoryRow;
      /** Its latest retrievals, latest first. */
      readonly appearances: readonly Appearance[];
      /** Its latest judged runs, oldest first. */
      readonly history: readonly HistoryPoint[];
    };

/** Success of a memory's runs, up to one of them. */
export interface HistoryPoint {
  readonly episode: string;
  /** Of the run's first outcome, Unix ms. */
  readonly at: number;
  /** In [0, 1]. */
  readonly reward: number;
  /** Judged runs so far that showed it, those before the first point included. */
  readonly runs: number;
  /** Their share of successes. */
  readonly success: Share;
}

/** Entries in which retrievals of a memory are looked for: around the last one that showed it, else at the end of the ledger. */
const LOOKED_AT = 1_000;
/** Of those, after the last retrieval: an exposure is recorded when its run ends, and an outcome may come later. */
const LATER = 200;
const MOST_APPEARANCES = 10;

type MemoryReport = Extract<WhyReport, { readonly kind: "memory" }>;

/**
 * Explains a run, by its id or an alias, or a memory, by its id, its label, or either as lists print it.
 *
 * @param collection of the memory. @default the one that found it last
 * @throws CommandError NOT_FOUND, CONFLICT for another learner's memories
 */
export async function whyReport(ledger: Ledger, reference: string, collection?: string): Promise<WhyReport> {
  const { engine, store, namespace } = ledger;
  const run = await engine.explain(reference, { namespace });
  if (run) return { kind: "run", namespace, run };
  const memory = await memoryReport(ledger, reference, collection);
  if (memory) return memory;
  const isLong = (await store.head(namespace)) > LOOKED_AT;
  const latest = isLong
    ? ` Memories that were never shown are looked for in the latest ${count(LOOKED_AT)} entries.`
    : "";
  throw new CommandError(
    "NOT_FOUND",
    `No run and no memory of namespace ${namespace} is called ${reference}. npx qavr runs and npx qavr memories list them.${latest}`,
  );
}

/** @returns undefined for a memory that was never a candidate */
export async function memoryReport(
  ledger: Ledger,
  reference: string,
  only?: string,
): Promise<MemoryReport | undefined> {
  const { engine, store, namespace } = ledger;
  const all = await collectionsOf(ledger);
  const collections = (only === undefined ? all : [collectionNamed(only, all)]).map(({ collection }) => collection);
  let lastShown: number | undefined;
  let isId = false;
  for (const collection of collections) {
    const [known] = (await engine.memories({ namespace, collection, ids: [reference] })).memories;
    isId ||= known !== undefined && isKnown(known);
    if (known?.lastShown !== undefined) lastShown = Math.max(known.lastShown, lastShown ?? 0);
  }
  const head = await store.head(namespace);
  const end = lastShown === undefined ? head : Math.min(head, LATER + (await placeAt(ledger, lastShown)));
  const after = Math.max(0, end - LOOKED_AT);
  const { events } = await engine.history({ namespace, after, limit: LOOKED_AT });
  let found = foundIn(events, collections, ({ id }) => id === reference);
  // The label of one memory may be the id of another.
  if (found.length === 0 && !isId) found = foundIn(events, collections, ({ label }) => label === reference);
  const id = found[0]?.id ?? reference;
  for (const collection of found[0] ? [found[0].collection] : collections) {
    const [memory] = (await engine.memories({ namespace, collection, ids: [id] })).memories;
    if (!memory || (!isKnown(memory) && found.length === 0)) continue;
    const appearances = found
      .filter((one) => one.id === id && one.collection === collection)
      .slice(0, MOST_APPEARANCES)
      .map(({ id: _, collection: __, ...appearance }) => appearance);
    const history = historyOf(memory, collection, events);
    return { kind: "memory", namespace, memory: rowOf(memory, collection), appearances, history };
  }
  return memoryListedAs(reference, ledger, collections);
}

/** False for an id that no run and no import has named. */
function isKnown({ shown, evidence }: MemoryView): boolean {
  return shown > 0 || evidence > 0;
}

/** A memory by its label, or by its label or id cut as lists cut them. It may have been shown long ago: all memories are read. */
async function memoryListedAs(
  name: string,
  ledger: Ledger,
  collections: readonly string[],
): Promise<MemoryReport | undefined> {
  const { engine, namespace } = ledger;
  for (const collection of collections) {
    let after: string | undefined;
    do {
      const page = await engine.memories({ namespace, collection, after, limit: PAGE });
      const known = page.memories.find((one) => isKnown(one) && (one.label === name || nameOf(one) === name));
      if (known) return memoryReport(ledger, known.id, collection);
      after = page.next;
    } while (after !== undefined);
  }
  return undefined;
}

/** The first place in the ledger that is not older than a time: found by halving, since entries are in about that order. */
async function placeAt({ store, namespace }: Ledger, time: number): Promise<number> {
  const [first] = await store.readEntries(namespace, { limit: 1 });
  let low = first?.seq ?? 1;
  let high = await store.head(namespace);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = await store.readEntries(namespace, { after: middle - 1, limit: 1 });
    if (entry && entry.at < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A memory's successes after each of its runs in these events, as far as its counts reach back. Earlier runs are in its counts. */
function historyOf(
  { id, successes, failures }: MemoryView,
  collection: string,
  events: readonly HistoryEvent[],
): readonly HistoryPoint[] {
  const rewards = rewardsIn(events);
  const showed = new Set(
    events.flatMap((event) =>
      event.type === "exposure" &&
      rewards.has(event.episode) &&
      event.exposures.some(
        (exposure) =>
          exposure.credited && exposure.collection === collection && exposure.items.some((item) => item.id === id),
      )
        ? [event.episode]
        : [],
    ),
  );
  // Runs before it was forgotten, or reset by an edit, are no longer in its counts.
  const own = new Set([...showed].slice(Math.max(0, showed.size - successes - failures)));
  const judged = [...rewards.values()].filter(({ episode }) => own.has(episode));
  const good = judged.filter(({ reward }) => reward >= 0.5).length;
  let succeeded = Math.max(0, successes - good);
  let runs = succeeded + Math.max(0, failures - (judged.length - good));
  return judged.map(({ episode, at, reward }) => {
    runs += 1;
    if (reward >= 0.5) succeeded += 1;
    return { episode, at, reward, runs, success: wilson(succeeded / runs, runs) };
  });
}

type Named = (memory: { readonly id: string; readonly label?: string }) => boolean;
type Found = Appearance & { readonly id: string; readonly collection: string };

/** The retrievals that found a memory, latest first. */
function foundIn(events: readonly HistoryEvent[], collections: readonly string[], named: Named): readonly Found[] {
  return events.toReversed().flatMap((event) => {
    if (event.type !== "exposure") return [];
    return event.exposures.flatMap((exposure) => {
      const place = collections.includes(exposure.collection) ? placeOf(exposure, named) : undefined;
      return place ? [{ ...place, episode: event.episode, collection: exposure.collection }] : [];
    });
  });
}

function placeOf(
  exposure: ExposureView,
  named: Named,
): (Omit<Appearance, "episode"> & { readonly id: string }) | undefined {
  const shown = exposure.items.find(named);
  const notShown = shown ? undefined : exposure.notShown.find(named);
  const known = shown ?? notShown;
  if (!known) return undefined;
  const last = exposure.items.at(-1);
  return {
    id: known.id,
    at: exposure.at,
    heldOut: exposure.heldOut === true,
    places: exposure.items.length,
    ...(shown ? { shown } : {}),
    ...(notShown ? { notShown } : {}),
    ...(last ? { lastScore: last.score } : {}),
  };
}
