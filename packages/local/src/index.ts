export { type AgentClaim, agentClaims, importAgentClaims, validateAgentClaim } from "./agent-claims.js";
export type { Embedder, EmbedTexts } from "./embedder.js";
export type { ListOptions, LocalHit, LocalMemories, LocalQuery, ProgressOptions } from "./local-memories.js";
export { localMemories } from "./local-memories.js";
export type { LocalMemoriesOptions } from "./local-options.js";
export type { MemoryChange, MemoryFilter, Metadata, NewMemory, StoredMemory } from "./memory-record.js";
export { wordsOf } from "./words.js";
