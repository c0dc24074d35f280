import { createAgent } from "langchain";
import type { Host, Qavr } from "../memory.js";
import type { MemoryOptions } from "../memory-options.js";
import { qavr as createMemory } from "../qavr.js";
import { isVectorStore } from "../ranking/host.js";
import type { MiddlewareOptions } from "./middleware-options.js";
import { qavrMiddleware } from "./qavr-middleware.js";

/** What the agents of a memory are shown: a vector store or retriever, or one with options. */
export type AgentMemories = Host | MiddlewareOptions;

/** What `qavr()` can be told here: a memory's options, and where its agents' memories are. */
export interface AgentMemoryOptions extends MemoryOptions {
  /** What {@link AgentQavr.agent} shows its agents. @default undefined, they are watched and shown nothing */
  readonly memories?: AgentMemories | undefined;
}

/** A memory that makes agents. */
export interface AgentQavr extends Qavr {
  /**
   * LangChain's `createAgent` with the memory installed: the middleware shows it memories, after all middleware of its own, and the
   * outcome handler learns from how its runs end.
   */
  readonly agent: typeof createAgent;
}

/**
 * An application's memory, as `qavr()` of the package's main entry makes it, that can make agents too.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function qavr({ memories, ...options }: AgentMemoryOptions = {}): AgentQavr {
  return withAgents(createMemory(options), memories);
}

/**
 * A memory that exists already, with an {@link AgentQavr.agent}. The memory itself stays as it is, so that each kind of agent may
 * have memories of its own.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
 */
export function withAgents(memory: Qavr, memories?: AgentMemories): AgentQavr {
  const own = memories === undefined ? [] : [qavrMiddleware({ ...optionsOf(memories), memory })];
  const agent = (params: Parameters<typeof createAgent>[0]): unknown =>
    memory.track(createAgent({ ...params, middleware: [...(params.middleware ?? []), ...own] }));
  return Object.create(memory, { agent: { value: agent, enumerable: true } }) as AgentQavr;
}

function optionsOf(memories: AgentMemories): MiddlewareOptions {
  const isHost = isVectorStore(memories) || typeof (memories as { invoke?: unknown } | null)?.invoke === "function";
  return isHost ? { base: memories as Host } : (memories as MiddlewareOptions);
}
