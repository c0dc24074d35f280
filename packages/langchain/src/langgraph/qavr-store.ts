import { BaseStore, type Operation, type OperationResults, type SearchOperation } from "@langchain/langgraph";
import { illegalOption } from "@qavr/core/adapter";
import { addMembers } from "../add-members.js";
import { LANGCHAIN_LOG_CODES } from "../log-codes.js";
import { MARKS, mark } from "../marks.js";
import { assertFields, type MemoryHandle, type MemoryParts, partsOf } from "../memory-parts.js";
import { type RerankPlan, rerank } from "../ranking/rerank.js";
import { planSearch } from "../ranking/search.js";
import type { RunSite } from "../runs/find-run.js";
import { blocksOf, type PageWindow, pageWindow } from "./page-window.js";
import { unwrapStore, withoutBatching } from "./search-store.js";
import { assertStoreOptions, DEFAULT_LIMIT, rankingOptionsOf, type StoreOptions } from "./store-options.js";
import { foundIn, itemTexts, type StoredItem } from "./stored-item.js";

/** Fields of a {@link QavrStore}. */
export interface QavrStoreFields extends StoreOptions {
  /** The object that `qavr()` returned. */
  readonly memory: MemoryHandle;
  /** The store to wrap. */
  readonly store: BaseStore;
}

/** The place of a search through the store: a graph batches the store calls of all its runs, so it belongs to none of them. */
const NO_RUN: RunSite = {
  run: undefined,
  tracked: false,
  isLate: false,
  info: { runId: undefined, metadata: {}, tags: [], input: undefined },
  caller: { runId: undefined, handlers: [] },
};

/**
 * A LangGraph store whose searches with a query return first the items that helped similar runs. Items, scores and pages stay the
 * wrapped store's own. Its searches record nothing, since LangGraph does not tell a store which run asks; use
 * `memory.search(runtime.store, …)` for that.
 *
 * @throws INVALID_ARGUMENT, INVALID_ID and LIMIT_EXCEEDED from the constructor.
 */
export class QavrStore extends BaseStore {
  /** The wrapped store. */
  readonly inner: BaseStore;
  readonly options: StoreOptions;
  readonly #parts: MemoryParts;
  #unattributed = false;

  constructor(fields: QavrStoreFields) {
    super();
    assertFields("QavrStore", fields);
    const { memory, store, ...options } = fields;
    this.#parts = partsOf(memory);
    const unwrapped = unwrapStore(withoutBatching(store), options);
    const inner = unwrapped.inner as BaseStore;
    if (typeof inner?.batch !== "function") throw illegalOption("store", "store must be a LangGraph store", store);
    assertStoreOptions(unwrapped.options);
    // An application's own subclass may filter items, so it is not unwrapped.
    mark(this, MARKS.langGraphStore, new.target === QavrStore ? this : undefined);
    this.inner = inner;
    this.options = unwrapped.options;
    addMembers(this, inner);
  }

  /** The one method that LangGraph calls inside graphs; all others are made of it. */
  override async batch<Operations extends Operation[]>(operations: Operations): Promise<OperationResults<Operations>> {
    if (!this.#parts.kit.engine.enabled) return this.inner.batch(operations);
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
    const { plan, width } = await planSearch(this.#parts, NO_RUN, rankingOptionsOf(this.options), limit);
    return width.asHost ? undefined : { plan, query, limit, window: pageWindow(offset, limit, width.fetchK) };
  }

  async #page({ plan, query, limit, window }: PagePlan, items: readonly StoredItem[]): Promise<StoredItem[]> {
    const blocks = blocksOf(items, window.block).map(async (block) => {
      const { places } = await rerank(this.#parts, {
        ...plan,
        found: foundIn(block, itemTexts(this.#parts, NO_RUN, block, this.options)),
        text: query,
        k: limit,
        options: rankingOptionsOf(this.options),
        unrecorded: { returned: block.length },
      });
      return places.map((place) => block[place] as StoredItem);
    });
    return (await Promise.all(blocks)).flat().slice(window.start, window.start + limit);
  }

  /** Warns once of a search that nothing is learned from. */
  #warnUnattributed(): void {
    if (this.#unattributed) return;
    this.#unattributed = true;
    this.#parts.kit.log(
      "warn",
      "SEARCH_NOT_ATTRIBUTED",
      `${LANGCHAIN_LOG_CODES.SEARCH_NOT_ATTRIBUTED} Use memory.search(store, …).`,
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
