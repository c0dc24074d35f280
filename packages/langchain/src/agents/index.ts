export { type AgentMemories, type AgentMemoryOptions, type AgentQavr, qavr, withAgents } from "./agent-memory.js";
export type { AgentMessage, AgentState, MiddlewareOptions } from "./middleware-options.js";
export { type QavrMiddlewareFields, qavrMiddleware } from "./qavr-middleware.js";
export type { CountTokens } from "./token-budget.js";
