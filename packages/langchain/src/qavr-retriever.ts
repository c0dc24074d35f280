import type { CallbackManagerForRetrieverRun } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { VectorStoreInterface, VectorStoreRetriever } from "@langchain/core/vectorstores";
import { definedOnly, illegalOption } from "@qavr/core/adapter";
import { MARKS, mark, markOf } from "./marks.js";
import { assertFields, type MemoryHandle, type MemoryParts, partsOf } from "./memory-parts.js";
import { type QavrVectorStore, unwrapHost } from "./qavr-vector-store.js";
import { assertBase, type Base, type Host, isVectorStore } from "./ranking/host.js";
import { assertRankingOptions, DEFAULT_K, type RankingOptions } from "./ranking/ranking-options.js";
import { search } from "./ranking/search.js";
import { addSignal, findRun } from "./runs/find-run.js";
import { withHandler } from "./runs/track-runs.js";

/** Options of a {@link QavrRetriever} besides its host. */
// biome-ignore lint/suspicious/noExplicitAny: so that options which name no filter fit every store
export interface RetrieverOptions<Filter = any> extends BaseRetrieverInput, RankingOptions {
  /**
   * How many documents to return. A store's own retriever stands for its store. Any other retriever is asked for no number: without `k`,
   * all that it finds are reordered.
   * @default the own number of a store's retriever; 4 for a store
   */
  readonly k?: number | undefined;
  /** Passed to the store untouched. */
  readonly filter?: Filter | undefined;
}

/** Fields of a {@link QavrRetriever}. */
export interface QavrRetrieverFields<Filter = unknown> extends RetrieverOptions<Filter> {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
  /** The vector store, retriever or collection to ask. */
  readonly base: Base;
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
  readonly base: Host;
  readonly options: RankingOptions;
  readonly #parts: MemoryParts;
  readonly #asked: () => Pick<QavrRetriever, "k" | "filter">;

  /**
   * A retriever over a vector store; `memory.retriever(store, options)` makes the same.
   * @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED
   */
  static fromVectorStore<Store extends VectorStoreInterface>(
    store: Store,
    fields: Omit<QavrRetrieverFields<Store["FilterType"]>, "base">,
  ): QavrRetriever {
    return new QavrRetriever({ ...fields, base: store });
  }

  constructor(fields: QavrRetrieverFields) {
    assertFields("QavrRetriever", fields, ["base", "the vector store, retriever or collection to ask"]);
    const inner = innerOf(fields.base);
    const {
      memory,
      base,
      callbacks = inner?.callbacks,
      tags = inner?.tags,
      metadata = inner?.metadata,
      verbose = inner?.verbose,
      ...asked
    } = fields;
    const parts = partsOf(memory);
    const { host, k, merged } = unwrapBase(base, asked);
    super({
      // The handler sees this retriever's runs also outside tracked runs: a bare retrieval then has a run id and its caller's
      // metadata, and is recorded when it ends.
      ...(parts.kit.engine.enabled
        ? { callbacks: withHandler(callbacks, memory.handler) }
        : callbacks
          ? { callbacks }
          : {}),
      ...(tags ? { tags } : {}),
      ...(metadata ? { metadata } : {}),
      ...(verbose === undefined ? {} : { verbose }),
    });
    // An application's own subclass may filter documents, so it is not unwrapped.
    mark(this, MARKS.retriever, new.target === QavrRetriever);
    this.#parts = parts;
    this.base = host;
    // Applications set the number and the filter of a store's retriever also later on.
    this.#asked = () => ({ k: asked.k ?? inner?.k ?? k, filter: inner?.filter ?? asked.filter });
    this.options = merged;
  }

  /** How many documents are returned, as a wrapped retriever has it by then; undefined for all that it finds. */
  get k(): number | undefined {
    return this.#asked().k;
  }

  /** Passed to the store; that of a wrapped retriever is read at each retrieval. */
  get filter(): unknown {
    return this.#asked().filter;
  }

  override invoke(query: string, options?: RunnableConfig): Promise<DocumentInterface[]> {
    if (options) addSignal(this.#parts.runs, options);
    return super.invoke(query, options);
  }

  override async _getRelevantDocuments(
    query: string,
    runManager?: CallbackManagerForRetrieverRun,
  ): Promise<DocumentInterface[]> {
    const { base, k, filter, options } = this;
    const site = findRun(this.#parts.runs, runManager);
    if (!site.tracked) this.#parts.warnUntracked();
    const callbacks = runManager?.getChild(isVectorStore(base) ? "vectorstore" : "base_retriever");
    const { documents } = await search(this.#parts, { base, text: query, k, filter, options, site, callbacks });
    return documents;
  }
}

/** The host inside a base, and how it is asked. */
interface Unwrapped {
  readonly host: Host;
  readonly k: number | undefined;
  readonly filter: unknown;
  readonly merged: RankingOptions;
}

/**
 * The host inside `base`: the store of a plain store's own retriever, which would find no better documents than it returns, or what a
 * retriever or store of a memory wraps, since ranking twice would count every memory twice. Its options are the defaults; its filter may
 * separate tenants and is not replaced.
 *
 * @throws INVALID_ARGUMENT
 */
export function unwrapBase(
  base: Base,
  { k, filter, ...options }: Omit<RetrieverOptions, keyof BaseRetrieverInput>,
): Unwrapped {
  assertBase(base);
  if ("searchType" in options) {
    // The search of a wrapped store would keep its own selection.
    const way =
      "belongs to the wrapped retriever: memory.retriever(store.asRetriever({ k: 20, searchType: … }), { k: 4 })";
    throw illegalOption("searchType", `searchType ${way}`, options.searchType);
  }
  const inner = innerOf(base);
  if (inner && inner.filter !== undefined && filter !== undefined && filter !== inner.filter) {
    throw illegalOption("filter", "filter must be left out, because the wrapped retriever has one of its own", filter);
  }
  const { host, merged } = inner
    ? { host: inner.base, merged: { ...inner.options, ...definedOnly(options) } }
    : unwrapHost<Host>(base, options);
  const size = k ?? inner?.k ?? (isVectorStore(host) ? DEFAULT_K : undefined);
  assertRankingOptions(merged, { size: { name: "k", value: size }, beside: ["filter"] });
  return { host, k: size, filter: filter ?? inner?.filter, merged };
}

/** A retriever whose ranking another one takes over. */
type Inner = Pick<QavrRetriever, "base" | "k" | "filter" | "options" | keyof BaseRetrieverInput>;

/**
 * True for LangChain's own class, recognised by its name for serialisation, which a subclass does not own: `instanceof` would fail across
 * copies of the framework, and a store's `asRetriever` may make a class of its own. False where an application put another search on it.
 */
function isStoreRetriever(retriever: VectorStoreRetriever): boolean {
  const kind = retriever.constructor as typeof VectorStoreRetriever;
  const isOwnClass = Object.hasOwn(kind, "lc_name") && kind.lc_name() === "VectorStoreRetriever";
  const { invoke, _getRelevantDocuments } = kind.prototype;
  return isOwnClass && retriever.invoke === invoke && retriever._getRelevantDocuments === _getRelevantDocuments;
}

/** A retriever to unwrap: one of these retrievers or the own one of a store; not a subclass of them. */
function innerOf(value: unknown): Inner | undefined {
  if (markOf(value, MARKS.retriever) === true) return value as QavrRetriever;
  const retriever = value as VectorStoreRetriever | null | undefined;
  const store = retriever?.vectorStore;
  if (!retriever || !isVectorStore(store) || !isStoreRetriever(retriever)) return undefined;
  const { k, filter, searchType, searchKwargs } = retriever;
  const wrapped = markOf(store, MARKS.vectorStore);
  const { inner, options } = wrapped === true ? (store as QavrVectorStore) : { inner: store, options: {} };
  // A search other than by similarity is the host's own and selects its documents itself, and so may a subclass of a wrapped store.
  const bySimilarity = searchType === "similarity" && wrapped !== false;
  if (!bySimilarity && wrapped !== true) return undefined;
  const base = bySimilarity ? inner : inner.asRetriever({ k, filter, searchType, searchKwargs } as never);
  return Object.create(retriever, { base: { value: base }, options: { value: options } }) as Inner;
}
