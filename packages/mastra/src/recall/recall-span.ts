import type { ProcessInputArgs } from "@mastra/core/processors";
import type { RecallPlan } from "./plan-recall.js";

/**
 * Writes the ranking and the shown memories on the recall's span: counts and ids of this package, no user's text.
 *
 * @param recallsMessages True when semantic recall is on for the run
 */
export function describeRecall(
  tracing: ProcessInputArgs["tracingContext"],
  { run, query }: RecallPlan,
  recallsMessages: boolean,
): void {
  const candidates = query.rankings.reduce((sum, ranked) => sum + ranked.candidates, 0);
  // Those of messages and of collections.
  const { rankings } = run;
  const gate = (query.rankings.at(-1)?.ranking ?? rankings.at(-1))?.gate;
  const recorded = run.session !== undefined;
  tracing?.currentSpan?.update({
    attributes: {
      operationType: "recall",
      semanticRecallEnabled: recallsMessages,
      vectorResultCount: candidates,
      messageCount: run.memories.filter(({ collection }) => collection === query.collection).length,
      qavr: {
        ...(recorded ? { episode: run.episode } : {}),
        namespace: run.namespace,
        context: run.context,
        candidates,
        shown: run.memories.length,
        ...(run.dropped.length > 0 ? { dropped: run.dropped } : {}),
        order: rankings.some(({ order }) => order === "learned") ? "learned" : "host",
        ...(rankings.some(({ heldOut }) => heldOut) ? { heldOut: true } : {}),
        ...(rankings.some(({ memoryOff }) => memoryOff) ? { memoryOff: true } : {}),
        recorded,
        ...(gate === undefined ? {} : { gate }),
        items: run.memories.map(({ handle, collection, item }) => ({
          handle,
          collection,
          hostRank: item.index + 1,
          similarity: item.similarity,
          learned: item.learned,
          bonus: item.bonus,
          overlap: item.overlap,
          evidence: item.evidence,
        })),
      },
    } as object,
  });
}
