import { definedOnly } from "@qavr/core";
import { assertFunction, assertRankingOptions, type RankingOptions } from "../ranking/ranking-options.js";
import type { StoredItem } from "./stored-item.js";

/** An item's id, its metadata and the vectors behind it are the store's own affair. */
type Unread = "annotate" | "idKey" | "idOf" | "space";
const UNREAD: readonly Unread[] = ["annotate", "idKey", "idOf", "space"];

/** How a LangGraph store is ranked. */
export interface StoreOptions extends Omit<RankingOptions, Unread> {
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
  assertRankingOptions(options, {
    ...(limit === undefined ? {} : { size: { name: "limit", value: limit } }),
    without: UNREAD,
  });
}

/** The options of one ranking; an item's id is already its own. */
export function rankingOptionsOf({ textOf: _, ...options }: StoreOptions): RankingOptions {
  return { collection: DEFAULT_COLLECTION, ...definedOnly(options), idOf: ({ id }) => id };
}
