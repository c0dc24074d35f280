import type { RequestContext } from "@mastra/core/request-context";
import { type DescribedHit, toLabel } from "@qavr/core/adapter";
import type { MemoryParts } from "../memory-parts.js";
import { type AgentRun, entriesOf } from "../runs/agent-run.js";
import { storable } from "../runs/aliases.js";
import { callingRun } from "../runs/calling-run.js";

/** Tools or skills that a run may be shown. */
export interface DescribedRequest {
  /** Their name in the ledger. */
  readonly collection: string;
  /** The user's request, or the model's search; undefined for none. */
  readonly text: string | undefined;
  /** Best first. */
  readonly hits: readonly DescribedHit[];
  readonly topK: number;
  /** Chooses among the first `topK`, in learned order, by their places in `hits`. @default all */
  readonly choose?: (places: readonly number[]) => readonly number[];
}

/** The places in `hits` of those that a run is shown, in learned order. Undefined where that failed, which is logged. */
export async function rankDescribed(
  { kit, options: { label } }: Pick<MemoryParts, "kit" | "options">,
  run: AgentRun,
  { collection, text, hits, topK, choose = (places) => places }: DescribedRequest,
): Promise<readonly number[] | undefined> {
  const { namespace, context } = run;
  return kit.rank({
    session: run.session,
    runId: run.runId,
    mapIn() {
      const candidates = hits.map(({ id, text: of, similarity, group }) => ({
        id: storable(id),
        similarity,
        text: of,
        group,
        label: toLabel(label?.({ collection, id: storable(id), text: of, metadata: undefined })),
      }));
      return {
        namespace,
        context,
        collection,
        text,
        candidates,
        topK,
        record: run.session !== undefined,
        required: true,
      };
    },
    mapOut(ranking) {
      const places = ranking.items.map(({ index }) => index);
      const chosen = new Set(choose(places));
      const entries = entriesOf(ranking, collection, ({ index }) => hits[index]?.text);
      const shown = entries.filter(({ item }) => chosen.has(item.index));
      if (shown.length < entries.length) {
        run.session?.shown(
          ranking,
          shown.map(({ id }) => id),
        );
      }
      run.rankings.push(ranking);
      run.memories.push(...shown);
      return places.filter((place) => chosen.has(place));
    },
  });
}

/** The run that asks for tools or skills. Undefined for none, which is logged once, and for an application's own question. */
export async function askingRun(
  parts: Pick<MemoryParts, "kit" | "shared" | "options" | "enabled">,
  requestContext: RequestContext | undefined,
): Promise<AgentRun | undefined> {
  if (!parts.enabled || requestContext === undefined) return undefined;
  const { run } = await callingRun(parts, requestContext);
  if (!run) {
    parts.kit.warnOnce(
      "LISTED_OUTSIDE_RUN",
      "Ranked tools or skills were listed outside any run of their memory, so the host's own list was shown and nothing is learned. Give " +
        "the agent the same memory, and its runs a thread: generate(…, { memory: { thread, resource } }).",
    );
  }
  return run;
}
