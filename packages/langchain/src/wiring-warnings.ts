import type { Logger } from "@qavr/core";
import { warnOnce } from "@qavr/core/adapter";

const UNTRACKED =
  "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends. " +
  "Wrap the chain, graph or agent with memory.track(runnable), or pass callbacks: [memory.handler]; " +
  "inside a plain function pass the run's config on: retriever.invoke(query, config).";

const NARROW =
  "A wrapped retriever finds no more documents than are wanted, so learning can reorder them and never bring in a better one. " +
  "Wrap the vector store itself, or let the retriever find more (asRetriever(20)) and name k.";

/** Says once that a retrieval saw no tracked run: the commonest way to wire a memory up so that it never learns. */
export function trackingWarning(logger: Logger | undefined): () => void {
  return warnOnce(logger, "NO_OUTCOME_TRACKING", UNTRACKED);
}

/** Says once that learning has nothing to choose from: what is natural to pass is often a retriever for as many as are wanted. */
export function narrowWarning(logger: Logger | undefined): () => void {
  return warnOnce(logger, "NOTHING_TO_CHOOSE_FROM", NARROW);
}
