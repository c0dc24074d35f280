import { checkFields, definedOnly } from "@qavr/core/adapter";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { z } from "zod";
import { type MemoryHandle, partsOf } from "../memory-parts.js";
import { QavrRetriever } from "../qavr-retriever.js";
import { RETRIEVER_FIELDS } from "../ranking/ranking-options.js";
import { createReportOutcomeTool } from "../tools/report-outcome-tool.js";
import { noteRead, retrieveForAgent } from "./agent-retrieval.js";
import {
  type AgentState,
  MIDDLEWARE_DEFAULTS,
  MIDDLEWARE_RULES,
  type MiddlewareOptions,
} from "./middleware-options.js";
import { answerOf } from "./model-errors.js";
import { assertRoom, renderMemories, selectMemories } from "./prompt-memories.js";
import { withBlock } from "./system-prompt.js";
import { estimateTokens } from "./token-budget.js";

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
 * the memories that fit the budget in a private state key, which a checkpointer carries over interrupts. Each model call gets them
 * appended to the system prompt, fenced and labelled as data. The middleware shows memories and the handler learns, so track the agent as
 * well (`memory.agent` does both).
 *
 * When memories cannot be retrieved the agent runs without them and MEMORIES_UNAVAILABLE is logged.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function qavrMiddleware(fields: QavrMiddlewareFields): AgentMiddleware {
  checkFields("qavrMiddleware()", fields, { memory: true, base: true, ...MIDDLEWARE_RULES, ...RETRIEVER_FIELDS });
  const { memory, base, name, query, maxTokens, maxCharacters, countTokens, introduction, reportTool, ...rest } =
    fields;
  const parts = partsOf(memory);
  const given = { name, query, maxTokens, maxCharacters, countTokens, introduction };
  const options = { ...MIDDLEWARE_DEFAULTS, ...definedOnly(given) };
  // An application's own counter may be asynchronous, so each run compares its count.
  if (options.countTokens === estimateTokens)
    assertRoom(estimateTokens(renderMemories([], options)), options.maxTokens);
  const retriever = new QavrRetriever({ ...rest, memory, base });
  const stateKey = `_${options.name}`;
  const tools = reportTool ? [createReportOutcomeTool(parts, reportTool === true ? {} : reportTool)] : [];

  // No wrapToolCall: its mere presence makes a failing tool fail the agent (langchainjs #11154).
  return createMiddleware({
    name: options.name,
    stateSchema: z.object({ [stateKey]: z.array(STATE_MEMORY).default([]) }),
    tools,
    async beforeAgent(state) {
      const retrieved = await retrieveForAgent(
        parts,
        {
          retriever,
          query: options.query,
          choose: (documents) => selectMemories(documents, parts.shown, options),
          failed: "An agent's memories could not be retrieved; it went on without them.",
        },
        state as unknown as AgentState,
      );
      const { retrieval, chosen = [] } = retrieved ?? {};
      return { [stateKey]: chosen.map(({ memory }): StateMemory => ({ ...memory, retrieval })) };
    },
    wrapModelCall(request, handler) {
      const memories = (request.state as Record<string, unknown>)[stateKey] as readonly StateMemory[] | undefined;
      let { systemMessage } = request;
      if (memories && memories.length > 0) {
        for (const retrieval of new Set(memories.map((shown) => shown.retrieval))) noteRead(parts, retrieval);
        systemMessage = withBlock(systemMessage, renderMemories(memories, options));
      }
      return answerOf(() => handler({ ...request, systemMessage }));
    },
  });
}
