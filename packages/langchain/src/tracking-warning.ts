import type { Logger } from "@qavr/core";
import { warnOnce } from "@qavr/core/adapter";

const MESSAGE =
  "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends. " +
  "Wrap the chain, graph or agent with memory.track(runnable), or pass callbacks: [memory.handler]; " +
  "inside a plain function pass the run's config on: retriever.invoke(query, config).";

/** Says once that a retrieval saw no tracked run: the commonest way to wire a memory up so that it never learns. */
export function trackingWarning(logger: Logger | undefined): () => void {
  return warnOnce(logger, "NO_OUTCOME_TRACKING", MESSAGE);
}
