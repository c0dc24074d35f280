import { definedOnly } from "@qavr/core";
import { assertFunction, assertRankingOptions, type RankingOptions } from "../ranking/ranking-options.js";
import type { StoredItem } from "./stored-item.js";

/** How a LangGraph store is ranked. */
export interface StoreOptions extends Omit<RankingOptions, "annotate" | "idKey" | "idOf" | "space"> {
  /**
   * Which body of memories the items belong to. They are learned apart from those of vector stores, whose requests are known by
   * other vectors.
   * @default "store"
   */
  readonly collection?: string | undefined;
  /** The text of an item, for prompts and for noticing edits. @default its only field if that is a string, else its JSON */
  readonly textOf?: ((item: StoredItem) => string) | undefined;
}

/** How many items a LangGraph store returns when nobody says. */
export const DEFAULT_LIMIT = 10;

const DEFAULT_COLLECTION = "store";

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertStoreOptions({ textOf, ...options }: StoreOptions, limit?: number): void {
  assertFunction("textOf", textOf);
  assertRankingOptions(options, { name: "limit", value: limit });
}

/** The options of one ranking; an item's id is already its own. */
export function rankingOptionsOf({ textOf: _, ...options }: StoreOptions): RankingOptions {
  return { collection: DEFAULT_COLLECTION, ...definedOnly(options), idOf: ({ id }) => id };
}
