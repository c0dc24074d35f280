import type { EpisodeView, ExplainedItem, ExposureView, NotShown } from "@qavr/core";
import { CommandError } from "../exit-codes.js";
import type { Ledger } from "../open-ledger.js";
import { type MemoryRow, rowOf } from "./memories.js";

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
    };

/** Entries at the end of the ledger in which retrievals of a memory are looked for. */
const LOOKED_AT = 1_000;
const MOST_APPEARANCES = 10;

/**
 * Explains a run, by its id or an alias, or a memory, by its id or the label that it has.
 *
 * @throws CommandError NOT_FOUND
 */
export async function whyReport(ledger: Ledger, reference: string): Promise<WhyReport> {
  const { engine, namespace } = ledger;
  const run = await engine.explain(reference, { namespace });
  if (run) return { kind: "run", namespace, run };
  const memory = await memoryReport(ledger, reference);
  if (memory) return memory;
  throw new CommandError(
    "NOT_FOUND",
    `No run and no memory of namespace ${namespace} is called ${reference}. qavr runs and qavr memories list them.`,
  );
}

/** @returns undefined for a memory that was never a candidate */
export async function memoryReport(
  ledger: Ledger,
  reference: string,
): Promise<Extract<WhyReport, { readonly kind: "memory" }> | undefined> {
  const { engine, store, namespace } = ledger;
  const after = Math.max(0, (await store.head(namespace)) - LOOKED_AT);
  const { events } = await engine.history({ namespace, after, limit: LOOKED_AT });
  const found: (Appearance & { readonly id: string; readonly collection: string })[] = [];
  for (const event of events.toReversed()) {
    if (event.type !== "exposure") continue;
    for (const exposure of event.exposures) {
      const place = placeOf(exposure, reference);
      if (place) found.push({ ...place, episode: event.episode, collection: exposure.collection });
    }
  }
  const collections = (await engine.status({ namespace })).collections.map(({ collection }) => collection);
  const id = found[0]?.id ?? reference;
  for (const collection of found[0] ? [found[0].collection] : collections) {
    const [memory] = (await engine.memories({ namespace, collection, ids: [id] })).memories;
    if (!memory || (memory.shown === 0 && found.length === 0)) continue;
    const appearances = found.slice(0, MOST_APPEARANCES).map(({ id: _, collection: __, ...appearance }) => appearance);
    return { kind: "memory", namespace, memory: rowOf(memory, collection), appearances };
  }
  return undefined;
}

function placeOf(
  exposure: ExposureView,
  reference: string,
): (Omit<Appearance, "episode"> & { readonly id: string }) | undefined {
  const named = ({ id, label }: { readonly id: string; readonly label?: string }): boolean =>
    id === reference || label === reference;
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
