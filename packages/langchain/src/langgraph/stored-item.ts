/** An item of a LangGraph store, as a search finds it. Structural, so that nobody needs LangGraph to name it. */
export interface StoredItem {
  readonly namespace: string[];
  readonly key: string;
  readonly value: Record<string, unknown>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Higher is better; absent where the store does not score. */
  readonly score?: number;
}

/** Anything that searches like LangGraph's `BaseStore`. */
export interface SearchableStore {
  search(
    namespacePrefix: string[],
    options?: { filter?: Record<string, unknown>; limit?: number; offset?: number; query?: string },
  ): Promise<StoredItem[]>;
}

/** An item that `memory.search` found. */
export interface FoundItem extends StoredItem {
  /** Its text, as {@link StoreOptions.textOf} reads it. */
  readonly text: string;
  /** Its short name for prompts and reports; undefined where nothing was recorded. */
  readonly handle: string | undefined;
}
