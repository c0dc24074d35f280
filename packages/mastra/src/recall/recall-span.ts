import type { ProcessInputArgs } from "@mastra/core/processors";
import type { RecallPlan } from "./plan-recall.js";

/**
 * Notes on the recall's span what was ranked and shown: counts and ids of this package, no text of anybody.
 *
 * @param recallsMessages Whether semantic recall is on for the run
 */
export function describeRecall(
  tracing: ProcessInputArgs["tracingContext"],
  plan: RecallPlan,
  recallsMessages: boolean,
): void {
  const { run, query, candidates, gate, learned } = plan;
  tracing?.currentSpan?.update({
    attributes: {
      operationType: "recall",
      semanticRecallEnabled: recallsMessages,
      vectorResultCount: candidates,
      messageCount: run.memories.filter(({ collection }) => collection === query.collection).length,
      qavr: {
        ...(run.recorded ? { episode: run.episode } : {}),
        namespace: run.namespace,
        context: run.context,
        candidates,
        shown: run.memories.length,
        order: learned ? "learned" : "host",
        recorded: run.recorded,
        ...(gate === undefined ? {} : { gate }),
        items: run.memories.map(({ handle, collection, item }) => ({
          handle,
          collection,
          hostRank: item.index + 1,
          similarity: item.similarity,
          learned: item.learned,
          evidence: item.evidence,
        })),
      },
    } as object,
  });
}
