import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { type Runnable as LangChainRunnable, RunnableBinding } from "@langchain/core/runnables";
import { QavrError } from "@qavr/core";

/** Anything whose runs can be watched: a chain, a graph, an agent. */
export interface Trackable {
  withConfig(config: { callbacks: BaseCallbackHandler[] }): unknown;
}

/**
 * The runnable with a handler attached to each of its runs.
 *
 * @throws UNSUPPORTED for something without `withConfig`, and for a retriever or a tool
 */
export function trackRuns<Runnable extends Trackable>(runnable: Runnable, handler: BaseCallbackHandler): Runnable {
  if (typeof runnable?.withConfig !== "function") {
    throw new QavrError("UNSUPPORTED", "Only something with withConfig can be tracked: a chain, a graph, an agent.");
  }
  const root = rootOf(runnable) as { readonly [Member in "_getRelevantDocuments" | "_call" | "schema"]?: unknown };
  if (typeof root._getRelevantDocuments === "function") {
    throw new QavrError(
      "UNSUPPORTED",
      "How a retriever ends says nothing about what it found. Track the chain, graph or agent that works with it, or report on its run by id.",
    );
  }
  if (typeof root._call === "function" && root.schema !== undefined) {
    throw new QavrError(
      "UNSUPPORTED",
      "How a tool's call ends is not how a task ends. Track the agent, chain or graph that calls it, a RunnableLambda around it, or report on its run by id.",
    );
  }
  const config = { callbacks: [handler] };
  // A retry is a binding that applies its own config to its attempts only, so that withConfig would make each attempt look
  // like a run of its own. A binding around it reaches the run as a whole.
  if ("bound" in runnable) {
    const bound = runnable as unknown as LangChainRunnable;
    return new RunnableBinding({ bound, config, kwargs: {} }) as unknown as Runnable;
  }
  return runnable.withConfig(config) as Runnable;
}

/**
 * Whose run is the outermost: a binding (`withConfig`, `bind`) runs what it binds. A retry and a `RunnableEach` have a run of their own around
 * those of what they are bound to.
 */
function rootOf(runnable: object): object {
  const isBinding = "kwargs" in runnable && !("maxAttemptNumber" in runnable);
  const { bound } = runnable as { readonly bound?: unknown };
  return isBinding && typeof bound === "object" && bound !== null ? rootOf(bound) : runnable;
}
