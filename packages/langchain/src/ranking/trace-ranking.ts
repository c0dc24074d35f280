import type { Ranking } from "@qavr/core";
import { tracedRuns } from "../runs/traced-run.js";

/** Metadata key of a traced retriever run under which its ranking stands. */
export const TRACE_KEY = "qavr_ranking";

/**
 * Writes the reasons for each returned document's place into the retriever's traced run, where LangSmith shows them as metadata.
 * The documents stay as they are; without a tracer nothing happens.
 */
export function traceRanking(
  { runId, handlers }: { readonly runId: string | undefined; readonly handlers: readonly unknown[] },
  namespace: string,
  { episode, learner, order, heldOut, memoryOff, gate, items }: Ranking,
): void {
  for (const run of tracedRuns(runId, handlers)) {
    if (run.run_type !== "retriever") continue;
    const drawn = { ...(heldOut && { heldOut }), ...(memoryOff && { memoryOff }) };
    const ranked = items.map(({ index, rank, ...terms }) => ({ rank, hostRank: index + 1, ...terms }));
    run.extra ??= {};
    run.extra.metadata = {
      ...(run.extra.metadata as object | undefined),
      [TRACE_KEY]: { namespace, episode, learner, order, ...drawn, gate, items: ranked },
    };
  }
}
