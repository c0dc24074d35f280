import { type DescribedHit, toLabel } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { type AgentRun, entriesOf, type RecalledEntry } from "../runs/agent-run.js";
import { storable } from "../runs/aliases.js";

/** Memories, tools or skills that a search found for a run. */
export interface RankedHits {
  /** Their name in the ledger. */
  readonly collection: string;
  /** The user's request, or the model's search; undefined for none. */
  readonly text: string | undefined;
  /** Best first. */
  readonly hits: readonly DescribedHit[];
  readonly topK: number;
  /** Chooses among the first `topK`, in learned order, by their places in `hits`. @default all */
  readonly choose?: (places: readonly number[]) => readonly number[];
  /** Leaves out what is not expected to help. @default nothing is left out */
  readonly minWorth?: number | undefined;
  /** True for what a run needs, also where memory is off. @default false */
  readonly required?: boolean;
}

/** Those that the run is shown, in learned order. Undefined where the ranking failed, which is logged. */
export async function rankHits(
  { kit, options: { label } }: Pick<MemoryParts, "kit" | "options">,
  run: AgentRun,
  { collection, text, hits, topK, choose = (places) => places, minWorth, required = false }: RankedHits,
): Promise<readonly RecalledEntry[] | undefined> {
  const { namespace, context, session, runId } = run;
  return kit.rank({
    session,
    runId,
    minWorth,
    mapIn() {
      const candidates = hits.map((hit) => {
        const id = storable(hit.id);
        return { ...hit, id, label: toLabel(label?.({ collection, id, text: hit.text, metadata: undefined })) };
      });
      const record = session !== undefined;
      return { namespace, context, collection, text, candidates, topK, record, required };
    },
    mapOut(ranking) {
      const entries = entriesOf(ranking, collection, ({ index }) => hits[index]?.text);
      const chosen = new Set(choose(entries.map(({ item }) => item.index)));
      const shown = entries.filter(({ item }) => chosen.has(item.index));
      const ids = shown.map(({ id }) => id);
      if (shown.length < entries.length) session?.shown(ranking, ids);
      run.rankings.push(ranking);
      run.memories.push(...shown);
      return shown;
    },
  });
}
