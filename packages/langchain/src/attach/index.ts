import { getContextVariable, registerConfigureHook, setContextVariable } from "@langchain/core/context";
import { type MemoryHandle, partsOf } from "../memory-parts.js";

/**
 * Attaches a memory's outcome handler to every run that starts in this asynchronous context, without touching the code that
 * starts it. LangChain keeps its hooks in an AsyncLocalStorage, so call it at the top level of the entry module, before a server
 * or a timer starts: earlier code and modules of `node --import` are not reached (Node 24). A run that has the handler already is
 * counted once.
 *
 * It also switches on LangChain's own passing of configs to nested runs, as importing LangGraph does.
 *
 * @returns Detaches it again, in the context that calls it.
 * @throws INVALID_ARGUMENT for any object that `qavr()` did not make
 */
export function attach(memory: MemoryHandle): () => void {
  const { engine } = partsOf(memory).kit;
  if (!engine.enabled) return () => {};
  const contextVar = memory.handler.name;
  if (getContextVariable(contextVar) === undefined) registerConfigureHook({ contextVar });
  setContextVariable(contextVar, memory.handler);
  return () => setContextVariable(contextVar, undefined);
}
