export {
  DEFAULT_STORE_PATH,
  type Outcome,
  type ReportedOutcome,
  STORE_VARIABLE,
  type Verdict,
} from "@qavr/core/adapter";
export type { DocumentIdOptions, IdOf } from "./document-ids.js";
export type { SearchRuntime, StoreSearchOptions } from "./langgraph/search-store.js";
export type { StoreOptions } from "./langgraph/store-options.js";
export type { FoundItem, GivenStore, SearchableStore, StoredItem } from "./langgraph/stored-item.js";
export { LOG_CODES, type LogCode } from "./log-codes.js";
export type { Host, Qavr, Trackable, Wrapped } from "./memory.js";
export { DISABLED_VARIABLE, type MemoryOptions } from "./memory-options.js";
export { qavr } from "./qavr.js";
export { type CompressorOptions, QavrCompressor, type QavrCompressorFields } from "./qavr-compressor.js";
export { QavrRetriever, type QavrRetrieverFields, type RetrieverOptions } from "./qavr-retriever.js";
export { QavrVectorStore, type QavrVectorStoreFields } from "./qavr-vector-store.js";
export type { DocumentExplanation } from "./ranking/explain-document.js";
export { MAX_FETCH_K, type RankingOptions } from "./ranking/ranking-options.js";
export type { ScoreKind } from "./ranking/similarities.js";
export type { Recall, RecallEpisode, RecallOptions } from "./recall.js";
export { OutcomeHandler } from "./runs/outcome-handler.js";
export { type RunInfo, SCOPE_KEYS, type ScopeOption } from "./runs/run-scope.js";
export type { Evaluate, FinishedRun, RecalledMemory } from "./runs/verdict.js";
export type { RecallTool, RecallToolOptions } from "./tools/recall-tool.js";
export type { ReportOutcomeTool, ReportOutcomeToolOptions } from "./tools/report-outcome-tool.js";
