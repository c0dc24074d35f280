import type { DocumentInterface } from "@langchain/core/documents";
import type { BaseExampleSelector } from "@langchain/core/example_selectors";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import type { Engine, EpisodeView, HistoryOptions, MemoriesOptions, NamespaceStatus, OutcomeReceipt } from "@qavr/core";
import type { Outcome } from "@qavr/core/adapter";
import type { ExampleSelectorOptions } from "./example-selector.js";
import type { SearchRuntime, StoreSearchOptions } from "./langgraph/search-store.js";
import type { FoundItem, GivenStore } from "./langgraph/stored-item.js";
import type { MemoryHandle } from "./memory-parts.js";
import type { CompressorOptions, QavrCompressor } from "./qavr-compressor.js";
import type { QavrRetriever, RetrieverOptions } from "./qavr-retriever.js";
import type { QavrVectorStore, Wrapped } from "./qavr-vector-store.js";
import type { Base } from "./ranking/host.js";
import type { RankingOptions } from "./ranking/ranking-options.js";
import type { DocumentExplanation } from "./ranking/shown-documents.js";
import type { TextCollection } from "./ranking/text-collection.js";
import type { Recall, RecallOptions } from "./recall.js";
import type { OutcomeHandler } from "./runs/outcome-handler.js";
import type { Trackable } from "./runs/track-runs.js";
import type { RecallTool, RecallToolOptions } from "./tools/recall-tool.js";
import type { ReportOutcomeTool, ReportOutcomeToolOptions } from "./tools/report-outcome-tool.js";

/** An application's memory: it ranks the memories that stores find, by past outcomes, and learns from how runs end. */
export interface Qavr extends MemoryHandle {
  /** Watches runs. {@link Qavr.track} attaches it. */
  readonly handler: OutcomeHandler;
  /** The engine underneath, for replay, forgetting and evaluation. */
  readonly engine: Engine;

  /** A retriever over a vector store, another retriever or a collection. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  retriever<Asked extends Base>(
    base: Asked,
    options?: RetrieverOptions<Asked extends VectorStoreInterface ? Asked["FilterType"] : unknown>,
  ): QavrRetriever;
  /** A vector store that reranks its searches and passes everything else through. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  vectorStore<Store extends VectorStoreInterface>(store: Store, options?: RankingOptions): Wrapped<Store>;
  /** A vector store over a collection. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  vectorStore(collection: TextCollection, options?: RankingOptions): QavrVectorStore;
  /** A document compressor that keeps the first `topN`. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  compressor(options?: CompressorOptions): QavrCompressor;
  /**
   * A selector of few-shot examples for a prompt, over a store whose documents have an example each as metadata. The examples belong to
   * the tracked run that invokes the prompt.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED; UNSUPPORTED in browsers, on edge runtimes, and with a LangChain whose prompts
   * cannot be followed
   */
  exampleSelector<Asked extends Base>(
    base: Asked,
    options?: ExampleSelectorOptions<Asked extends VectorStoreInterface ? Asked["FilterType"] : unknown>,
  ): BaseExampleSelector;

  /**
   * The runnable with the handler attached (`withConfig`), so that the memory learns from the end of each of its runs. The type
   * stays the runnable's; LangChain may return a binding without members beyond `invoke`, `stream` and `batch`.
   * @throws UNSUPPORTED for an object without `withConfig`, and for a retriever or a tool, whose end is no evidence about documents
   */
  track<Runnable extends Trackable>(runnable: Runnable): Runnable;

  /**
   * Reports how a run went, during it, right after it or up to 30 days later. The better tier of evidence counts; a report by a
   * person (the default) replaces the outcome of the run's end. A run of this process that ranked in several namespaces is reported on
   * in each. For one that was shown no memory the answer is `ignored`.
   *
   * @param reference A run id, an episode id, or a document that a retrieval returned.
   * @param options.namespace Needed for a run of another process whose namespace is not the memory's own.
   * @throws UNKNOWN_EPISODE, NOT_SHOWN, INVALID_ARGUMENT, INVALID_ID, INVALID_REWARD, LIMIT_EXCEEDED, OUTCOME_TOO_LATE,
   * IDEMPOTENCY_CONFLICT, LEARNER_MISMATCH and the store's codes
   */
  report(
    reference: string | DocumentInterface,
    outcome: Outcome,
    options?: { readonly namespace?: string | undefined },
  ): Promise<OutcomeReceipt>;

  /**
   * Retrieves without any framework around it. Inside a tracked run it joins that run's episode.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and the host's errors
   */
  recall(base: Base, text: string, options?: RecallOptions): Promise<Recall>;

  /**
   * Searches a LangGraph store from a tool or a node, and attributes the results to the run. Pass on the tool's runtime or the node's
   * config; leave it out where LangGraph keeps it. Give a `QavrStore` or the store that a graph hands out.
   *
   * @param namespace The prefix to search in: the store's namespace, not the scope of learning.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED, and the store's errors
   */
  search(
    store: GivenStore,
    namespace: readonly string[],
    query: string,
    runtime?: SearchRuntime,
    options?: StoreSearchOptions,
  ): Promise<FoundItem[]>;

  /** The two tools that close the loop for an agent: recall, and report how it went. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  tools(base: Base, options?: RecallToolOptions): [RecallTool, ReportOutcomeTool];
  /** A tool that recalls memories. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
  recallTool(base: Base, options?: RecallToolOptions): RecallTool;
  /** A tool with which an agent reports how its own run goes. @throws INVALID_ARGUMENT */
  reportOutcomeTool(options?: ReportOutcomeToolOptions): ReportOutcomeTool;

  /** Documents, or items of {@link Qavr.search}, as prompt text, each with its short handle: `[m1] text`. @throws INVALID_ARGUMENT */
  format(memories: readonly (DocumentInterface | FoundItem)[]): string;
  /** A run with the memories it was shown and their explanations, by run or episode id; undefined if unknown. */
  explain(reference: string, options?: { readonly namespace?: string | undefined }): Promise<EpisodeView | undefined>;
  /** Why a returned document has its place; undefined for a document that no ranking returned. */
  explain(document: DocumentInterface): Promise<DocumentExplanation | undefined>;
  /** State of learning in a namespace. */
  status(options?: { readonly namespace?: string | undefined }): Promise<NamespaceStatus>;
  /**
   * How often memories were shown, used and helped, by id or in pages, in a namespace.
   * @throws as `Engine.memories` does
   */
  memories(options?: MemoriesOptions): ReturnType<Engine["memories"]>;
  /** The ledger's events, in pages, oldest first. @throws as `Engine.history` does */
  history(options?: HistoryOptions): ReturnType<Engine["history"]>;
  /**
   * Waits until the ends of all runs that have ended are judged and recorded; in `evaluate` only for the ends that are judged
   * already. Await it before a process is frozen or exits.
   */
  flush(): Promise<void>;
  /** Waits likewise, records open episodes as abandoned and closes the store. */
  close(): Promise<void>;
}
