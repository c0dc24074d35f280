import { CallbackManager } from "@langchain/core/callbacks/manager";
import type { Qavr } from "../../src/index.js";

/** The config that LangChain passes to the parts of a run. */
export function childOf(memory: Qavr, runId: string): CallbackManager {
  const manager = new CallbackManager(runId);
  manager.addHandler(memory.handler, true);
  return manager;
}
