import type { EpisodeView } from "@qavr/core";
import type { Ledger } from "../open-ledger.js";

export interface RunRow {
  readonly episode: string;
  /** Last retrieval, of a run without one its end; Unix ms. */
  readonly at: number;
  readonly state: EpisodeView["state"];
  readonly order: "host" | "learned";
  readonly heldOut: boolean;
  /** Memories shown; one that several retrievals showed counts once. */
  readonly shown: number;
  /** Retrievals of the run were compacted away, so that their memories and their order are not known. */
  readonly compacted?: true;
  /** The first memory shown. */
  readonly first?: { readonly id: string; readonly label?: string; readonly collection: string };
  readonly outcome?: EpisodeView["outcome"];
}

export interface RunsReport {
  readonly namespace: string;
  /** Latest retrieval first. */
  readonly runs: readonly RunRow[];
  /** Give it as `before` for the next page; absent after the last one. */
  readonly next?: number;
}

/** Entries that are read at once. */
const PAGE = 500;
/** Runs that are explained at once. */
const TOGETHER = 50;

/**
 * The latest runs of a namespace, each at the place of its last retrieval, which later outcomes do not change: no run is on two pages.
 * Reads the ledger backwards until it has found `limit` of them.
 *
 * @param before place in the ledger before which to look. @default its end
 */
export async function runsReport(ledger: Ledger, limit: number, before?: number): Promise<RunsReport> {
  const { engine, store, namespace } = ledger;
  const end = Math.min((await store.head(namespace)) + 1, before ?? Number.POSITIVE_INFINITY);
  const found = new Map<string, RunRow & { readonly seq: number }>();
  // One run more than wanted shows that there is a next page.
  for (let after = end - 1; after > 0 && found.size <= limit; ) {
    const size = Math.min(PAGE, after);
    after -= size;
    const { events } = await engine.history({ namespace, after, limit: size });
    // The page of a compacted ledger may begin later, and hold entries that were read already.
    const page = events.filter(({ seq }) => seq <= after + size);
    if (page.length === 0) break;
    const retrievals = page.flatMap((event) => (event.type === "exposure" ? [event] : [])).reverse();
    while (retrievals.length > 0 && found.size <= limit) {
      const some = retrievals.splice(0, Math.min(TOGETHER, limit + 1 - found.size));
      const views = await Promise.all(some.map(({ episode }) => engine.explain(episode, { namespace })));
      for (const [i, view] of views.entries()) {
        const { seq, at, state, exposures } = some[i] as (typeof some)[number];
        const last = view?.exposures.at(-1);
        const isLast = last ? exposures.at(-1)?.at === last.at : state === view?.state;
        if (view && isLast && !found.has(view.episode)) found.set(view.episode, { ...rowOf(view, at), seq });
      }
    }
  }
  const latest = [...found.values()].slice(0, limit);
  const runs = latest.map(({ seq: _, ...row }) => row);
  return { namespace, runs, ...(found.size > limit ? { next: latest.at(-1)?.seq as number } : {}) };
}

function rowOf({ episode, state, exposures, compacted, outcome }: EpisodeView, recorded: number): RunRow {
  const last = exposures.at(-1);
  const { collection = "", items: [item] = [] } = exposures.find(({ items }) => items.length > 0) ?? {};
  return {
    episode,
    at: last?.at ?? recorded,
    state,
    order: exposures.some(({ order }) => order === "learned") ? "learned" : "host",
    heldOut: exposures.some(({ heldOut }) => heldOut === true),
    shown: new Set(exposures.flatMap(({ collection, items }) => items.map(({ id }) => `${collection}\n${id}`))).size,
    ...(compacted ? { compacted } : {}),
    ...(item ? { first: { id: item.id, ...(item.label === undefined ? {} : { label: item.label }), collection } } : {}),
    ...(outcome ? { outcome } : {}),
  };
}

/** The number of memories that a run was shown, in words where some are not known. */
export function shownOf({ shown, compacted }: RunRow): number | string {
  return compacted ? `${shown} or more` : shown;
}

/** The order that a run was shown, in words. */
export function orderOfRun({ order, heldOut, compacted }: RunRow): string {
  if (heldOut) return "held out";
  return compacted && order === "host" ? "compacted" : order;
}
