import { checkFields, definedOnly, FUNCTION } from "@qavr/core/adapter";
import { assertRankingOptions, type RankingOptions } from "../ranking/ranking-options.js";
import type { StoredItem } from "./stored-item.js";

/** Options without effect here: the store owns an item's id, its metadata and its vectors, and its pages are whole. */
type Unread = "annotate" | "groupKey" | "idKey" | "idOf" | "minWorth" | "space";
const UNREAD: readonly Unread[] = ["annotate", "groupKey", "idKey", "idOf", "minWorth", "space"];

/** How a LangGraph store is ranked. */
export interface StoreOptions extends Omit<RankingOptions, Unread> {
  /**
   * Name of the body of memories that the items belong to. They are learned apart from those of vector stores, whose requests have
   * other vectors.
   * @default "store"
   */
  readonly collection?: string | undefined;
  /** The text of an item, for prompts and for noticing edits. @default its only field if that is a string, else its JSON */
  readonly textOf?: ((item: StoredItem) => string) | undefined;
}

/** How many items a LangGraph store returns by default. */
export const DEFAULT_LIMIT = 10;

const DEFAULT_COLLECTION = "store";

/** @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertStoreOptions({ textOf, ...options }: StoreOptions, limit?: number): void {
  checkFields("A ranking", { textOf }, { textOf: FUNCTION });
  assertRankingOptions(options, {
    ...(limit === undefined ? {} : { size: { name: "limit", value: limit } }),
    beside: limit === undefined ? ["textOf"] : ["filter", "textOf"],
    without: UNREAD,
  });
}

/** The options of one ranking; an item's id is already its own. */
export function rankingOptionsOf({ textOf: _, ...options }: StoreOptions): RankingOptions {
  return { collection: DEFAULT_COLLECTION, ...definedOnly(options), idOf: ({ id }) => id };
}
