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

/** Entries that are read at once. */
const PAGE = 500;
/** Runs that are explained at once. */
const TOGETHER = 50;

/**
 * The latest runs of a namespace, those with the latest entry first. Reads the ledger backwards until it has found `limit` of them.
 *
 * @param before place in the ledger before which to look. @default its end
 */
export async function runsReport(ledger: Ledger, limit: number, before?: number): Promise<RunsReport> {
  const { engine, store, namespace } = ledger;
  const end = Math.min((await store.head(namespace)) + 1, before ?? Number.POSITIVE_INFINITY);
  const listed = await episodesFrom(ledger, end);
  /** Place of each run's last entry. */
  const places = new Map<string, number>();
  // One run more than wanted shows that there is a next page.
  for (let after = end - 1; after > 0 && places.size <= limit; ) {
    const size = Math.min(PAGE, after);
    after -= size;
    const { events } = await engine.history({ namespace, after, limit: size });
    // The page of a compacted ledger may begin later, and hold entries that were read already.
    const page = events.filter(({ seq }) => seq <= after + size);
    if (page.length === 0) break;
    for (const event of page.reverse()) {
      const episode = episodeOf(event);
      if (episode !== undefined && !listed.has(episode) && !places.has(episode)) places.set(episode, event.seq);
    }
  }
  const latest = [...places].slice(0, limit);
  const runs: RunRow[] = [];
  for (let start = 0; start < latest.length; start += TOGETHER) {
    const some = latest.slice(start, start + TOGETHER);
    const views = await Promise.all(some.map(([episode]) => engine.explain(episode, { namespace })));
    runs.push(...views.flatMap((view) => (view ? [rowOf(view)] : [])));
  }
  return { namespace, runs, ...(places.size > limit ? { next: latest.at(-1)?.[1] as number } : {}) };
}

/** Runs with an entry from `end` on, among the next {@link PAGE}: they were on an earlier page. */
async function episodesFrom({ engine, namespace }: Ledger, end: number): Promise<ReadonlySet<string>> {
  const { events } = await engine.history({ namespace, after: end - 1, limit: PAGE });
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
