import type { Callbacks } from "@langchain/core/callbacks/manager";
import type { DocumentInterface } from "@langchain/core/documents";
import {
  type MaxMarginalRelevanceSearchOptions,
  VectorStore,
  type VectorStoreInterface,
} from "@langchain/core/vectorstores";
import { QavrError } from "@qavr/core";
import { definedOnly, illegalOption } from "@qavr/core/adapter";
import { addMembers } from "./add-members.js";
import { MARKS, mark, markOf } from "./marks.js";
import { assertFields, type MemoryHandle, type MemoryParts, partsOf } from "./memory-parts.js";
import {
  askForDocuments,
  askForScores,
  boundedBySize,
  type Found,
  type HostQuery,
  isVectorStore,
  scored,
  searchesByVector,
} from "./ranking/host.js";
import { assertRankingOptions, DEFAULT_K, type RankingOptions } from "./ranking/ranking-options.js";
import { planRerank, type RerankPlan, rerank } from "./ranking/rerank.js";
import { planSearch, type SearchPlan } from "./ranking/search.js";
import { asVectorStore, isTextCollection, type TextCollection } from "./ranking/text-collection.js";
import { findRun, type RunSite } from "./runs/find-run.js";

/** A wrapped store with the members that only the wrapped store has. Its own types come first where a call is passed on. */
export type Wrapped<Store extends VectorStoreInterface> = Pick<
  Store,
  "addDocuments" | "addVectors" | "delete" | "maxMarginalRelevanceSearch"
> &
  QavrVectorStore<Store> &
  Omit<Store, keyof QavrVectorStore<Store>>;

/** Fields of a {@link QavrVectorStore}. */
export interface QavrVectorStoreFields<Store extends VectorStoreInterface = VectorStoreInterface>
  extends RankingOptions {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
  /** The store to wrap, or a collection. */
  readonly store: Store | TextCollection;
}

/**
 * A vector store whose searches return first the documents that helped similar runs. Scores stay the host's own. Everything else
 * passes through in the host's own shape: adding, deleting, saving and the methods that only this host has. Maximal marginal
 * relevance keeps the host's selection and is recorded as shown, so learning changes nothing there; `memory.retriever` chooses among
 * what `store.asRetriever({ k: 20, searchType: "mmr" })` finds.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED from the constructor.
 */
export class QavrVectorStore<Store extends VectorStoreInterface = VectorStoreInterface> extends VectorStore {
  static override lc_name(): string {
    return "QavrVectorStore";
  }

  declare FilterType: Store["FilterType"];
  /** The wrapped store. */
  readonly inner: Store;
  readonly options: RankingOptions;
  readonly #parts: MemoryParts;

  /** @throws UNSUPPORTED always: a wrapper has no documents of its own */
  static override async fromTexts(): Promise<never> {
    throw holdsNothing("fromTexts");
  }

  /** @throws UNSUPPORTED always: a wrapper has no documents of its own */
  static override async fromDocuments(): Promise<never> {
    throw holdsNothing("fromDocuments");
  }

  constructor(fields: QavrVectorStoreFields<Store>) {
    assertFields("QavrVectorStore", fields, ["store", "the vector store to wrap"]);
    const { memory, store, ...options } = fields;
    const parts = partsOf(memory);
    if (!isVectorStore(store) && !isTextCollection(store)) {
      throw illegalOption(
        "store",
        "store must be a vector store with similaritySearchWithScore, or a collection",
        store,
      );
    }
    const { host, merged } = unwrapHost(store as Store, options);
    assertRankingOptions(merged);
    // LangChain serialises the second argument: no clients, no connection strings.
    super(host.embeddings, {});
    // An application's own subclass may filter documents, so it is not unwrapped.
    mark(this, MARKS.vectorStore, new.target === QavrVectorStore);
    this.inner = host;
    this.options = merged;
    this.#parts = parts;
    if (typeof host.maxMarginalRelevanceSearch === "function") {
      this.maxMarginalRelevanceSearch = (query, search, callbacks) => this.#searchMmr(query, search, callbacks);
    }
    addMembers(this, host);
  }

  /** A literal: the base class asks before this object has its fields. */
  override _vectorstoreType(): string {
    return "qavr";
  }

  override addVectors(
    ...args: Parameters<VectorStoreInterface["addVectors"]>
  ): ReturnType<VectorStoreInterface["addVectors"]> {
    return this.inner.addVectors(...args);
  }

  override addDocuments(
    ...args: Parameters<VectorStoreInterface["addDocuments"]>
  ): ReturnType<VectorStoreInterface["addVectors"]> {
    return this.inner.addDocuments(...args);
  }

  override delete(...args: Parameters<VectorStoreInterface["delete"]>): Promise<void> {
    return this.inner.delete(...args);
  }

  override async similaritySearch(
    query: string,
    k?: number,
    filter?: this["FilterType"],
    callbacks?: Callbacks,
  ): Promise<DocumentInterface[]> {
    if (!this.#parts.kit.engine.enabled) return this.inner.similaritySearch(query, k, filter, callbacks);
    const { plan, question, topK } = await this.#question(query, k, filter, callbacks);
    const found = await askForDocuments(this.inner, question);
    return (await this.#rerank(plan, found, query, topK)).map(([document]) => document);
  }

  override async similaritySearchWithScore(
    query: string,
    k?: number,
    filter?: this["FilterType"],
    callbacks?: Callbacks,
  ): Promise<[DocumentInterface, number][]> {
    if (!this.#parts.kit.engine.enabled) return this.inner.similaritySearchWithScore(query, k, filter, callbacks);
    const { plan, question, topK } = await this.#question(query, k, filter, callbacks);
    return this.#rerank(plan, await askForScores(this.inner, question), query, topK);
  }

  override async similaritySearchVectorWithScore(
    query: number[],
    k: number,
    filter?: this["FilterType"],
  ): Promise<[DocumentInterface, number][]> {
    if (!this.#parts.kit.engine.enabled) return this.inner.similaritySearchVectorWithScore(query, k, filter);
    const { plan, width } = await this.#plan(undefined, k);
    const fetchK = boundedBySize(this.inner, { k, fetchK: width.fetchK });
    const found = scored(await this.inner.similaritySearchVectorWithScore(query, fetchK, filter));
    return this.#rerank(plan, { ...found, vector: query }, undefined, k);
  }

  async #searchMmr(
    query: string,
    search: MaxMarginalRelevanceSearchOptions<this["FilterType"]>,
    callbacks: Callbacks | undefined,
  ): Promise<DocumentInterface[]> {
    const documents = (await this.inner.maxMarginalRelevanceSearch?.(query, search, callbacks)) ?? [];
    if (!this.#parts.kit.engine.enabled) return documents;
    // This search embeds the text itself and does not return the vector. Where other searches learn by such vectors, a hashed text
    // would start a second space, so the request has neither.
    const text = searchesByVector(this.inner) ? undefined : query;
    const plan = planRerank(this.#parts, this.#site(callbacks), this.options);
    const pairs = await this.#rerank(plan, { documents }, text, documents.length, true);
    return pairs.map(([document]) => document);
  }

  /** A text search as the store is asked for it, and how many documents are returned: all, where the store decides. */
  async #question(
    text: string,
    asked: number | undefined,
    filter: unknown,
    callbacks: Callbacks | undefined,
  ): Promise<{ readonly plan: RerankPlan; readonly question: HostQuery; readonly topK: number | undefined }> {
    const k = asked === undefined ? DEFAULT_K : asked;
    const { plan, width } = await this.#plan(callbacks, k);
    const question = { text, k, asked, filter, callbacks, ...width };
    return { plan, question, topK: width.asHost ? asked : k };
  }

  #plan(callbacks: Callbacks | undefined, k: number): Promise<SearchPlan> {
    return planSearch(this.#parts, this.#site(callbacks), this.options, k);
  }

  #site(callbacks: Callbacks | undefined): RunSite {
    const site = findRun(this.#parts.runs, callbacks);
    if (!site.tracked) this.#parts.warnUntracked();
    return site;
  }

  async #rerank(
    plan: RerankPlan,
    found: Found,
    text: string | undefined,
    k: number | undefined,
    keepOrder: boolean = false,
  ): Promise<[DocumentInterface, number][]> {
    const { options, inner: host } = this;
    // Without a scope the host was asked for its own k, and its whole answer stands.
    const topK = plan.scope ? k : undefined;
    const request = { ...plan, found, text, k: topK, options, host, keepOrder };
    const { documents, places } = await rerank(this.#parts, request);
    return documents.map((document, i) => [document, found.scores?.[places[i] as number] as number]);
  }
}

/**
 * The store inside `base`, if `base` is one of these vector stores, also of another memory: ranking twice would count every memory
 * twice. The wrapper's options are the defaults. A collection becomes a vector store, and its name that of the ledger's collection.
 */
export function unwrapHost<Base extends object>(
  base: Base | TextCollection,
  options: RankingOptions,
): { readonly host: Base; readonly merged: RankingOptions } {
  if (!isVectorStore(base) && isTextCollection(base)) {
    const host = asVectorStore(base) as unknown as Base;
    return { host, merged: { collection: base.name, ...definedOnly(options) } };
  }
  if (markOf(base, MARKS.vectorStore) !== true) return { host: base as Base, merged: options };
  const wrapper = base as unknown as QavrVectorStore;
  return {
    host: wrapper.inner as unknown as Base,
    merged: { ...wrapper.options, ...definedOnly(options) },
  };
}

function holdsNothing(method: "fromTexts" | "fromDocuments"): QavrError {
  return new QavrError(
    "UNSUPPORTED",
    `QavrVectorStore.${method} cannot know which store to make. Make one of its own class and wrap it: memory.vectorStore(await HNSWLib.${method}(…)).`,
  );
}
