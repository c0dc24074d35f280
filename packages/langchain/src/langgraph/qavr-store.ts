import { BaseStore, type Operation, type OperationResults, type SearchOperation } from "@langchain/langgraph";
import { delegateMembers } from "../delegate-members.js";
import { type Internals, internalsOf } from "../internals.js";
import { LOG_CODES } from "../log-codes.js";
import { MARKS, mark } from "../marks.js";
import type { Qavr } from "../memory.js";
import { refuse } from "../ranking/ranking-options.js";
import { type RerankPlan, rerank } from "../ranking/rerank.js";
import { planSearch } from "../ranking/search.js";
import type { RunSite } from "../runs/find-run.js";
import { foundIn } from "./item-documents.js";
import { itemTexts } from "./item-texts.js";
import { blocksOf, type PageWindow, pageWindow } from "./page-window.js";
import { unwrapStore } from "./search-store.js";
import { assertStoreOptions, DEFAULT_LIMIT, rankingOptionsOf, type StoreOptions } from "./store-options.js";
import type { StoredItem } from "./stored-item.js";
import { withoutBatching } from "./without-batching.js";

/** Fields of a {@link QavrStore}. */
export interface QavrStoreFields extends StoreOptions {
  /** What `qavr()` returned. */
  readonly memory: Qavr;
  /** The store to wrap. */
  readonly store: BaseStore;
}

/** A graph batches store calls of all its runs, so that a search through the store belongs to none of them. */
const NO_RUN: RunSite = {
  run: undefined,
  tracked: false,
  isLate: false,
  info: { runId: undefined, metadata: {}, tags: [], input: undefined },
  caller: { runId: undefined, handlers: [] },
};

/**
 * A LangGraph store whose searches with a query return what helped runs like this one first. Items, scores, pages and everything
 * else stay the wrapped store's own. Its searches rank and record nothing, since a store is never told which run asks:
 * `memory.search(runtime.store, …)` does both.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED from the constructor.
 */
export class QavrStore extends BaseStore {
  /** The wrapped store. */
  readonly inner: BaseStore;
  readonly options: StoreOptions;
  readonly #internals: Internals;
  #unattributed = false;

  constructor({ memory, store, ...options }: QavrStoreFields) {
    super();
    this.#internals = internalsOf(memory);
    const unwrapped = unwrapStore(withoutBatching(store), options);
    const inner = unwrapped.inner as BaseStore;
    if (typeof inner?.batch !== "function") refuse("store", store, "must be a LangGraph store");
    assertStoreOptions(unwrapped.options);
    // A class of the application's own may filter what is found, and is not looked into.
    mark(this, MARKS.langGraphStore, new.target === QavrStore ? this : undefined);
    this.inner = inner;
    this.options = unwrapped.options;
    delegateMembers(this, inner);
  }

  /** The one method that LangGraph calls inside graphs; all others are made of it. */
  override async batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>> {
    if (!this.#internals.engine.enabled) return this.inner.batch(operations);
    const plans = await Promise.all(operations.map((operation) => this.#plan(operation)));
    if (plans.every((plan) => plan === undefined)) return this.inner.batch(operations);
    const asked = operations.map((operation, i) => {
      const window = plans[i]?.window;
      return window ? { ...operation, offset: window.offset, limit: window.limit } : operation;
    });
    const results: unknown[] = await this.inner.batch(asked);
    const reranked = results.map((result, i) => {
      const plan = plans[i];
      return plan ? this.#page(plan, result as StoredItem[]) : result;
    });
    return (await Promise.all(reranked)) as OperationResults<Operations>;
  }

  override start(): void | Promise<void> {
    return this.inner.start();
  }

  override stop(): void | Promise<void> {
    return this.inner.stop();
  }

  /** How a search is to be widened; undefined for one that goes to the store as it is, and for everything else. */
  async #plan(operation: Operation): Promise<PagePlan | undefined> {
    if (!("namespacePrefix" in operation) || !operation.query) return undefined;
    const { query, limit = DEFAULT_LIMIT, offset = 0 }: SearchOperation = operation;
    if (!(Number.isInteger(offset) && offset >= 0)) return undefined;
    this.#warnUnattributed();
    const { plan, width } = await planSearch(this.#internals, NO_RUN, rankingOptionsOf(this.options), limit);
    return width.asHost ? undefined : { plan, query, limit, window: pageWindow(offset, limit, width.fetchK) };
  }

  async #page({ plan, query, limit, window }: PagePlan, items: readonly StoredItem[]): Promise<StoredItem[]> {
    const blocks = blocksOf(items, window.block).map(async (block) => {
      const { places } = await rerank(this.#internals, {
        ...plan,
        found: foundIn(block, itemTexts(this.#internals, NO_RUN, block, this.options)),
        text: query,
        k: limit,
        options: rankingOptionsOf(this.options),
        unrecorded: { returned: block.length },
      });
      return places.map((place) => block[place] as StoredItem);
    });
    return (await Promise.all(blocks)).flat().slice(window.start, window.start + limit);
  }

  /** The commonest way to wire a store up so that it never learns. */
  #warnUnattributed(): void {
    if (this.#unattributed) return;
    this.#unattributed = true;
    this.#internals.log(
      "warn",
      "SEARCH_NOT_ATTRIBUTED",
      `${LOG_CODES.SEARCH_NOT_ATTRIBUTED} Use memory.search(store, …).`,
    );
  }
}

/** A search that is asked for more than it will return. */
interface PagePlan {
  readonly plan: RerankPlan;
  readonly query: string;
  readonly limit: number;
  readonly window: PageWindow;
}
