import type { Ranking } from "@qavr/core";

/** Metadata key of a traced retriever run under which its ranking stands. */
export const TRACE_KEY = "qavr_ranking";

/** A LangSmith tracer among the handlers of a run: it lends the run that it will send. */
interface TracerShape {
  readonly name?: unknown;
  getRun?(runId: string): TracedRun | undefined;
}

interface TracedRun {
  readonly run_type?: unknown;
  extra?: Record<string, unknown>;
}

/**
 * Writes the reasons for each returned document's place into the retriever's traced run, where LangSmith shows them as metadata.
 * The documents stay as they are; without a tracer nothing happens.
 */
export function traceRanking(
  { runId, handlers }: { readonly runId: string | undefined; readonly handlers: readonly unknown[] },
  namespace: string,
  { episode, learner, order, gate, items }: Ranking,
): void {
  if (runId === undefined) return;
  for (const handler of handlers) {
    const tracer = handler as TracerShape | null;
    if (tracer?.name !== "langchain_tracer" || typeof tracer.getRun !== "function") continue;
    const run = tracer.getRun(runId);
    if (run?.run_type !== "retriever") continue;
    const ranked = items.map(({ index, rank, ...terms }) => ({ rank, hostRank: index + 1, ...terms }));
    run.extra ??= {};
    run.extra.metadata = {
      ...(run.extra.metadata as object | undefined),
      [TRACE_KEY]: { namespace, episode, learner, order, gate, items: ranked },
    };
  }
}
