import type { Logger } from "@qavr/core";
import { createLog } from "./log-codes.js";

const MESSAGE =
  "Memories were retrieved outside any tracked run, so nothing can be learned from how it ends. " +
  "Wrap the chain, graph or agent with memory.track(runnable), or pass callbacks: [memory.handler]; " +
  "inside a plain function pass the run's config on: retriever.invoke(query, config).";

/**
 * Says once that a retrieval saw no tracked run. Without a logger it becomes a process warning: this is the commonest way to
 * wire a memory up so that it never learns, and nothing else would show it.
 */
export function trackingWarning(logger: Logger | undefined): () => void {
  let said = false;
  return () => {
    if (said) return;
    said = true;
    if (logger) createLog(logger)("warn", "NO_OUTCOME_TRACKING", MESSAGE);
    else globalThis.process?.emitWarning?.(MESSAGE, { type: "QavrWarning", code: "NO_OUTCOME_TRACKING" });
  };
}
