import { createAgent } from "langchain";
import type { Qavr } from "../memory.js";
import { assertFields, partsOf } from "../memory-parts.js";
import { qavr } from "../qavr.js";
import type { QavrOptions } from "../qavr-options.js";
import { type Base, isBase } from "../ranking/host.js";
import type { MiddlewareOptions } from "./middleware-options.js";
import { qavrMiddleware } from "./qavr-middleware.js";

/** The memories that agents are shown: a vector store or retriever, or one with options. */
export type AgentMemories = Base | MiddlewareOptions;

/** Options of {@link agentMemory}: those of a memory, and the memories of its agents. */
export interface AgentMemoryOptions extends QavrOptions {
  /** The memories that {@link AgentMemory.agent} shows its agents. @default undefined, they are watched and shown nothing */
  readonly memories?: AgentMemories | undefined;
}

/** A memory that makes agents. */
export interface AgentMemory extends Qavr {
  /**
   * LangChain's `createAgent` with the memory installed: the middleware shows it memories, after all middleware of its own, and the
   * outcome handler learns from how its runs end.
   */
  readonly agent: typeof createAgent;
}

/**
 * An application's memory that also makes agents: `qavr()` of the package's main entry with an {@link AgentMemory.agent}.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function agentMemory(fields: AgentMemoryOptions = {}): AgentMemory {
  assertFields("agentMemory()", fields);
  const { memories, ...options } = fields;
  return withAgents(qavr(options), memories);
}

/**
 * An existing memory with an {@link AgentMemory.agent}. The memory itself does not change, so that each kind of agent may have its
 * own memories.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function withAgents(memory: Qavr, memories?: AgentMemories): AgentMemory {
  partsOf(memory);
  const options = isBase(memories) ? { base: memories } : memories;
  const own = options === undefined ? [] : [qavrMiddleware({ ...options, memory })];
  const agent = (params: Parameters<typeof createAgent>[0]): unknown =>
    memory.track(createAgent({ ...params, middleware: [...(params.middleware ?? []), ...own] }));
  return Object.create(memory, { agent: { value: agent, enumerable: true } }) as AgentMemory;
}
