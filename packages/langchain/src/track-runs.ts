import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { type Runnable as LangChainRunnable, RunnableBinding } from "@langchain/core/runnables";
import { QavrError } from "@qavr/core";
import type { Trackable } from "./memory.js";

/**
 * The runnable with a handler attached to each of its runs.
 *
 * @throws UNSUPPORTED for something without `withConfig`
 */
export function trackRuns<Runnable extends Trackable>(runnable: Runnable, handler: BaseCallbackHandler): Runnable {
  if (typeof runnable?.withConfig !== "function") {
    throw new QavrError("UNSUPPORTED", "Only something with withConfig can be tracked: a chain, a graph, an agent.");
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
