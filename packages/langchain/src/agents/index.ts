export {
  type AgentMemories,
  type AgentMemory,
  type AgentMemoryOptions,
  agentMemory,
  withAgents,
} from "./agent-memory.js";
export type { AgentMessage, AgentState, MiddlewareOptions } from "./middleware-options.js";
export { type ProcedureMiddlewareFields, procedureMiddleware } from "./procedure-middleware.js";
export { type QavrMiddlewareFields, qavrMiddleware } from "./qavr-middleware.js";
export { type RankedSkillsFields, rankedSkills } from "./ranked-skills.js";
export { type RankedToolsFields, rankedTools } from "./ranked-tools.js";
export type { CountTokens } from "./token-budget.js";
