import type { BaseStore } from "@langchain/core/stores";

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

/**
 * A store as code in a run gets it: what LangGraph hands its nodes, or what a tool's runtime declares, which is the same store under
 * a type that does not say so.
 */
export type GivenStore = SearchableStore | BaseStore<string, unknown> | null | undefined;

/** An item that `memory.search` found. */
export interface FoundItem extends StoredItem {
  /** Its text, as {@link StoreOptions.textOf} reads it. */
  readonly text: string;
  /** Its short name for prompts and reports; undefined where nothing was recorded. */
  readonly handle: string | undefined;
  /** The episode that it was shown in, for a later `memory.report`; undefined where nothing was recorded. */
  readonly episode: string | undefined;
}
