import type { DocumentInterface } from "@langchain/core/documents";
import { SystemMessage } from "@langchain/core/messages";
import { definedOnly } from "@qavr/core/adapter";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { z } from "zod";
import { type MemoryHandle, type MemoryParts, partsOf } from "../memory-parts.js";
import { QavrRetriever } from "../qavr-retriever.js";
import { narrowToReturned } from "../runs/narrow-exposures.js";
import { isAbort, isControlFlow } from "../runs/run-errors.js";
import { continueHandles } from "../runs/run-session.js";
import { isWithin, type RunNode, type ShownExposure } from "../runs/run-tree.js";
import { createReportOutcomeTool } from "../tools/report-outcome-tool.js";
import {
  type AgentState,
  assertMiddlewareOptions,
  MIDDLEWARE_DEFAULTS,
  type MiddlewareOptions,
} from "./middleware-options.js";
import { renderMemories, selectMemories } from "./prompt-memories.js";

/** A memory as it stands in an agent's state: plain data that any checkpointer keeps. */
const STATE_MEMORY = z.object({
  handle: z.string(),
  text: z.string(),
  /** The run of the retrieval that found it. */
  retrieval: z.string().optional(),
});
type StateMemory = z.infer<typeof STATE_MEMORY>;

/** Fields of {@link qavrMiddleware}. */
export interface QavrMiddlewareFields extends MiddlewareOptions {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
}

/**
 * Middleware that shows an agent its memories. At the start of a run it retrieves once, by the last human message, and keeps
 * what fits the budget in a private state key, which a checkpointer carries over interrupts; each model call gets them appended
 * to the system prompt, fenced and labelled as data. The middleware shows memories and the handler learns, so track the agent as
 * well (`memory.agent` does both).
 *
 * When memories cannot be retrieved the agent runs without them and MEMORIES_UNAVAILABLE is logged.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function qavrMiddleware(fields: QavrMiddlewareFields): AgentMiddleware {
  const { memory, base, name, query, maxTokens, maxCharacters, countTokens, introduction, reportTool, ...rest } =
    fields;
  const parts = partsOf(memory);
  const given = { name, query, maxTokens, maxCharacters, countTokens, introduction };
  assertMiddlewareOptions({ ...given, reportTool });
  const options = { ...MIDDLEWARE_DEFAULTS, ...definedOnly(given) };
  const retriever = new QavrRetriever({ ...rest, memory, base });
  const stateKey = `_${options.name}`;
  const tools = reportTool ? [createReportOutcomeTool(parts, reportTool === true ? {} : reportTool)] : [];

  // No wrapToolCall: its mere presence makes a failing tool fail the agent (langchainjs #11154).
  return createMiddleware({
    name: options.name,
    stateSchema: z.object({ [stateKey]: z.array(STATE_MEMORY).default([]) }),
    tools,
    async beforeAgent(state) {
      return { [stateKey]: await memoriesFor(parts, retriever, options, state as unknown as AgentState) };
    },
    async wrapModelCall(request, handler) {
      const memories = (request.state as Record<string, unknown>)[stateKey] as readonly StateMemory[] | undefined;
      let { systemMessage } = request;
      if (memories && memories.length > 0) {
        noteRead(parts, memories);
        const block = renderMemories(memories, options);
        // Behind the agent's own prompt, so that a provider's prompt cache still knows it.
        systemMessage = systemMessage.text === "" ? new SystemMessage(block) : systemMessage.concat(`\n\n${block}`);
      }
      try {
        return await handler({ ...request, systemMessage });
      } catch (error) {
        throw passedOn(error);
      }
    },
  });
}

/**
 * Prepares an error of the model so that LangChain does not wrap it in a `MiddlewareError`, by which neither a retry nor the agent's caller
 * could recognise it (langchainjs #11324). LangChain wraps all errors but LangGraph's control flow. So the error bears the mark of
 * control flow until LangChain has looked at it: for two microtasks.
 */
function passedOn(error: unknown): unknown {
  const marked = error as { is_bubble_up?: boolean };
  if (error instanceof Error && Object.isExtensible(error) && marked.is_bubble_up === undefined) {
    marked.is_bubble_up = true;
    queueMicrotask(() => queueMicrotask(() => delete marked.is_bubble_up));
  }
  return error;
}

/** Marks a retrieval's exposures as unread: another middleware may end the run before the first model call. */
function awaitReading({ runs }: MemoryParts, retrieval: string): void {
  const run = runs.find(retrieval);
  for (const exposure of exposuresOf(run)) run?.root.unread.add(exposure);
}

/** Marks the exposures of these memories as read. A run that was interrupted since the retrieval is gone, with its marks. */
function noteRead({ runs }: MemoryParts, memories: readonly StateMemory[]): void {
  for (const retrieval of new Set(memories.map((memory) => memory.retrieval))) {
    const run = runs.find(retrieval);
    for (const exposure of exposuresOf(run)) run?.root.unread.delete(exposure);
  }
}

function exposuresOf(run: RunNode | undefined): readonly ShownExposure[] {
  return run ? run.root.exposures.filter((exposure) => isWithin(exposure.run, run)) : [];
}

async function memoriesFor(
  parts: MemoryParts,
  retriever: QavrRetriever,
  options: typeof MIDDLEWARE_DEFAULTS,
  state: AgentState,
): Promise<StateMemory[]> {
  const { kit, runs, shown } = parts;
  const runId = crypto.randomUUID();
  /** Memories that are retrieved and not shown earn nothing. */
  const narrowTo = (documents: readonly DocumentInterface[]): void => {
    const run = runs.find(runId);
    if (run) narrowToReturned(kit, run, documents);
  };
  try {
    const query = await options.query(state);
    if (query === undefined || query.trim() === "") return [];
    continueHandles(parts, undefined, state.messages);
    const documents = await retriever.invoke(query, { runId });
    const selected = await selectMemories(documents, shown, options);
    if (selected.length < documents.length) narrowTo(selected.map(({ document }) => document));
    awaitReading(parts, runId);
    return selected.map(({ memory }) => ({ ...memory, retrieval: runId }));
  } catch (error) {
    const signals = runs.find(runId)?.root.signals ?? [];
    if (isControlFlow(error) || isAbort(error, signals)) throw error;
    const message = "An agent's memories could not be retrieved; it went on without them.";
    kit.failOpen("MEMORIES_UNAVAILABLE", message, { error });
    narrowTo([]);
    return [];
  }
}
