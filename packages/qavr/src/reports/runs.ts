import type { EpisodeView, HistoryEvent } from "@qavr/core";
import type { Ledger } from "../open-ledger.js";

export interface RunRow {
  readonly episode: string;
  /** Last retrieval, Unix ms. */
  readonly at: number;
  readonly state: EpisodeView["state"];
  readonly order: "host" | "learned";
  readonly heldOut: boolean;
  /** Memories shown. */
  readonly shown: number;
  /** The first memory shown. */
  readonly first?: { readonly id: string; readonly label?: string };
  readonly outcome?: EpisodeView["outcome"];
}

export interface RunsReport {
  readonly namespace: string;
  /** Latest entry first. */
  readonly runs: readonly RunRow[];
  /** Give it as `before` for the next page; absent after the last one. */
  readonly next?: number;
}

/** Entries that are read for each run of a page. */
const ENTRIES_PER_RUN = 4;
const MOST_ENTRIES = 1_000;

/**
 * The latest runs of a namespace, those with the latest entry first.
 *
 * @param before place in the ledger before which to look. @default its end
 */
export async function runsReport(ledger: Ledger, limit: number, before?: number): Promise<RunsReport> {
  const { engine, store, namespace } = ledger;
  const end = Math.min((await store.head(namespace)) + 1, before ?? Number.POSITIVE_INFINITY);
  const size = Math.min(limit * ENTRIES_PER_RUN, MOST_ENTRIES, end - 1);
  if (size <= 0) return { namespace, runs: [] };
  const { events } = await engine.history({ namespace, after: end - 1 - size, limit: size });
  // A compacted ledger begins later: a page may lie beyond the end.
  const page = events.filter(({ seq }) => seq < end);
  const places = new Map<string, number>();
  const listed = await episodesFrom(ledger, end, size);
  for (const event of page) {
    const episode = episodeOf(event);
    if (episode === undefined || listed.has(episode)) continue;
    places.delete(episode);
    places.set(episode, event.seq);
  }
  const latest = [...places].reverse().slice(0, limit);
  const views = await Promise.all(latest.map(([episode]) => engine.explain(episode, { namespace })));
  const runs = views.flatMap((view) => (view ? [rowOf(view)] : []));
  const last = places.size > limit ? (latest.at(-1)?.[1] as number) : end - size;
  return { namespace, runs, ...(last > 1 && (page[0]?.seq ?? 1) <= last && page.length > 0 ? { next: last } : {}) };
}

/** Runs with a later entry: they were on an earlier page. */
async function episodesFrom({ engine, namespace }: Ledger, end: number, limit: number): Promise<ReadonlySet<string>> {
  const { events } = await engine.history({ namespace, after: end - 1, limit });
  return new Set(events.flatMap((event) => episodeOf(event) ?? []));
}

function rowOf({ episode, state, exposures, outcome }: EpisodeView): RunRow {
  const last = exposures.at(-1);
  const item = exposures[0]?.items[0];
  return {
    episode,
    at: last?.at ?? 0,
    state,
    order: exposures.some(({ order }) => order === "learned") ? "learned" : "host",
    heldOut: exposures.some(({ heldOut }) => heldOut === true),
    shown: exposures.reduce((sum, { items }) => sum + items.length, 0),
    ...(item ? { first: { id: item.id, ...(item.label === undefined ? {} : { label: item.label }) } } : {}),
    ...(outcome ? { outcome } : {}),
  };
}

function episodeOf(event: HistoryEvent): string | undefined {
  return event.type === "exposure" || event.type === "outcome" ? event.episode : undefined;
}
