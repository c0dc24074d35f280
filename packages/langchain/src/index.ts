export {
  DEFAULT_STORE_PATH,
  DISABLED_VARIABLE,
  type Evaluate,
  MAX_FETCH_K,
  type Outcome,
  type ReportedOutcome,
  type ScopeOption,
  STORE_VARIABLE,
  type Verdict,
} from "@qavr/core/adapter";
export type { DocumentIdOptions, IdOf } from "./document-ids.js";
export type { SearchRuntime, StoreSearchOptions } from "./langgraph/search-store.js";
export type { StoreOptions } from "./langgraph/store-options.js";
export type { FoundItem, GivenStore, SearchableStore, StoredItem } from "./langgraph/stored-item.js";
export { LANGCHAIN_LOG_CODES, type LangChainLogCode } from "./log-codes.js";
export type { Qavr } from "./memory.js";
export type { MemoryHandle } from "./memory-parts.js";
export { qavr } from "./qavr.js";
export { type CompressorOptions, QavrCompressor, type QavrCompressorFields } from "./qavr-compressor.js";
export type { QavrOptions } from "./qavr-options.js";
export { QavrRetriever, type QavrRetrieverFields, type RetrieverOptions } from "./qavr-retriever.js";
export { QavrVectorStore, type QavrVectorStoreFields, type Wrapped } from "./qavr-vector-store.js";
export type { Host } from "./ranking/host.js";
export type { RankingOptions } from "./ranking/ranking-options.js";
export type { DocumentExplanation } from "./ranking/shown-documents.js";
export type { ScoreKind } from "./ranking/similarities.js";
export type { Recall, RecallEpisode, RecallOptions } from "./recall.js";
export { OutcomeHandler } from "./runs/outcome-handler.js";
export { type RunInfo, SCOPE_KEYS } from "./runs/run-scope.js";
export type { Trackable } from "./runs/track-runs.js";
export type { FinishedRun, RecalledMemory } from "./runs/verdict.js";
export type { RecallTool, RecallToolOptions } from "./tools/recall-tool.js";
export type { ReportOutcomeTool, ReportOutcomeToolOptions } from "./tools/report-outcome-tool.js";
