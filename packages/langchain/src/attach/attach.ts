import { getContextVariable, registerConfigureHook, setContextVariable } from "@langchain/core/context";
import { internalsOf } from "../internals.js";
import type { Qavr } from "../memory.js";

/**
 * Attaches a memory's outcome handler to every run that starts in this asynchronous context, without touching the code that
 * starts it. LangChain keeps its hooks in an AsyncLocalStorage, so call it at the top level of the entry module, before a server
 * or a timer is started: what was started before, and what `node --import` loads, is not reached (Node 24). A run that has the handler
 * already is counted once.
 *
 * It also switches on LangChain's own passing of configs to nested runs, as importing LangGraph does.
 *
 * @returns Detaches it again, in the context that calls it.
 * @throws INVALID_ARGUMENT for anything that `qavr()` did not make
 */
export function attach(memory: Qavr): () => void {
  const { engine } = internalsOf(memory);
  if (!engine.enabled) return () => {};
  const contextVar = memory.handler.name;
  if (getContextVariable(contextVar) === undefined) registerConfigureHook({ contextVar });
  setContextVariable(contextVar, memory.handler);
  return () => setContextVariable(contextVar, undefined);
}
