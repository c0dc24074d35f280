import type { CallbackManagerForRetrieverRun, Callbacks } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput, type BaseRetrieverInterface } from "@langchain/core/retrievers";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { VectorStoreInterface } from "@langchain/core/vectorstores";
import { type Internals, internalsOf } from "./internals.js";
import { MARKS, mark, markOf } from "./marks.js";
import type { Qavr } from "./memory.js";
import { unwrapHost } from "./qavr-vector-store.js";
import { assertHost, isVectorStore, mostOf } from "./ranking/host.js";
import { assertRankingOptions, DEFAULT_K, type RankingOptions } from "./ranking/ranking-options.js";
import { search } from "./ranking/search.js";
import { findRun, hearSignal } from "./runs/find-run.js";
import type { OutcomeHandler } from "./runs/outcome-handler.js";

/** What a {@link QavrRetriever} can be told besides its host. */
export interface RetrieverOptions<Filter = unknown> extends BaseRetrieverInput, RankingOptions {
  /** How many documents to return. A wrapped retriever is asked for no number: without `k` all it found are reordered. @default 4 for a store */
  readonly k?: number | undefined;
  /** Passed to the store untouched. */
  readonly filter?: Filter | undefined;
}

/** Fields of a {@link QavrRetriever}. */
export interface QavrRetrieverFields<Filter = unknown> extends RetrieverOptions<Filter> {
  /** What `qavr()` returned. */
  readonly memory: Qavr;
  /** The vector store or retriever to ask. */
  readonly base: VectorStoreInterface | BaseRetrieverInterface;
}

/**
 * A retriever that over-fetches from any vector store or retriever and returns the documents that helped runs like this one
 * first. In a namespace without evidence it asks the host exactly as the host's own retriever would.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED from the constructor.
 */
export class QavrRetriever extends BaseRetriever {
  static override lc_name(): string {
    return "QavrRetriever";
  }

  override lc_namespace: string[] = ["langchain", "retrievers", "qavr"];

  /** The wrapped vector store or retriever. */
  readonly base: VectorStoreInterface | BaseRetrieverInterface;
  /** How many documents are returned; undefined for all that a wrapped retriever finds. */
  readonly k: number | undefined;
  readonly filter: unknown;
  readonly options: RankingOptions;
  readonly #internals: Internals;

  constructor(fields: QavrRetrieverFields) {
    const { memory, base, k, filter, callbacks, tags, metadata, verbose, ...options } = fields;
    const internals = internalsOf(memory);
    assertHost(base);
    const { host, merged } = unwrapHost(base, options);
    const size = k ?? (isVectorStore(host) ? DEFAULT_K : undefined);
    assertRankingOptions(merged, { name: "k", value: size });
    super({
      // The handler hears of this retriever's runs also where nobody passed it, so that a bare retrieval has a run id and
      // its caller's metadata, and is recorded when it ends.
      ...(internals.engine.enabled
        ? { callbacks: withHandler(callbacks, memory.handler) }
        : callbacks
          ? { callbacks }
          : {}),
      ...(tags ? { tags } : {}),
      ...(metadata ? { metadata } : {}),
      ...(verbose === undefined ? {} : { verbose }),
    });
    const most = mostOf(host);
    if (most !== undefined && most <= (size ?? most)) internals.warnNarrow();
    mark(this, MARKS.retriever, true);
    this.#internals = internals;
    this.base = host;
    this.k = size;
    this.filter = filter;
    this.options = merged;
  }

  override invoke(query: string, options?: RunnableConfig): Promise<DocumentInterface[]> {
    if (options) hearSignal(this.#internals.runs, options);
    return super.invoke(query, options);
  }

  override async _getRelevantDocuments(
    query: string,
    runManager?: CallbackManagerForRetrieverRun,
  ): Promise<DocumentInterface[]> {
    const { base, k, filter, options } = this;
    const site = findRun(this.#internals.runs, runManager);
    if (!site.tracked) this.#internals.warnUntracked();
    const callbacks = runManager?.getChild(isVectorStore(base) ? "vectorstore" : "base_retriever");
    const { documents } = await search(this.#internals, { base, text: query, k, filter, options, site, callbacks });
    return documents;
  }
}

/** The value itself, if it is one of these retrievers. */
export function qavrRetrieverOf(value: unknown): QavrRetriever | undefined {
  return markOf(value, MARKS.retriever) === true ? (value as QavrRetriever) : undefined;
}

function withHandler(callbacks: Callbacks | undefined, handler: OutcomeHandler): Callbacks {
  if (!callbacks) return [handler];
  return Array.isArray(callbacks) ? [...callbacks, handler] : callbacks.copy([handler], false);
}
