import { QavrError } from "@qavr/core";
import {
  ABOVE_0,
  COLLECTION_NAME,
  checkFields,
  type FieldRule,
  type FieldRules,
  TEXT,
  whole,
} from "@qavr/core/adapter";

/** Default name of the collection of messages in the ledger. */
export const MESSAGES = "messages";

/** A query to a collection. */
export interface CollectionQuery {
  /** The user's request. */
  readonly text: string;
  /** The most memories to return. */
  readonly limit: number;
  readonly threadId: string;
  readonly resourceId: string | undefined;
}

/** One memory that a collection found. */
export interface CollectionHit {
  /** The same for the same memory in every search. */
  readonly id: string;
  readonly text: string;
  /** Higher is better, finite, on the same scale in every search. */
  readonly similarity: number;
  /** Its tool, intent, file or topic. `grouped` of `@qavr/learners` learns from it. @default no group */
  readonly group?: string | undefined;
}

/** A body of memories that are not messages: lessons, claims, procedures. */
export interface MemoryCollection {
  /** Its name in the ledger; not `messages`. */
  readonly name: string;
  /** The best matches, best first. */
  search(query: CollectionQuery): Promise<readonly CollectionHit[]> | readonly CollectionHit[];
}

/** How one collection is recalled. */
export interface CollectionOptions {
  readonly collection: MemoryCollection;
  /** How many memories to show. @default 3 */
  readonly topK?: number | undefined;
  /** The most characters of its texts in the prompt; a memory that does not fit is not shown. @default 2,000 */
  readonly budget?: number | undefined;
  /** Leaves out memories that are not expected to help, as `semanticRecall.minWorth` does. @default nothing is left out */
  readonly minWorth?: number | undefined;
  /** The heading above them in the prompt. @default the collection's name */
  readonly heading?: string | undefined;
}

/** Default number of memories of a collection in a prompt. */
export const COLLECTION_TOP_K = 3;
/** Default characters of a collection's texts in a prompt. */
export const COLLECTION_BUDGET = 2_000;

export const COLLECTION: FieldRule = [
  (value) => {
    const { name, search } = (value ?? {}) as Partial<MemoryCollection>;
    return typeof search === "function" && COLLECTION_NAME[0](name, "collection's name");
  },
  "a collection with a name and a search method",
];

const OPTIONS: FieldRules<CollectionOptions> = {
  collection: COLLECTION,
  topK: whole(1),
  budget: whole(1),
  minWorth: ABOVE_0,
  heading: TEXT,
};

/** @param messages Name of the collection of messages. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertCollections(collections: readonly CollectionOptions[], messages: string): void {
  if (!Array.isArray(collections)) throw refused("must be a list of { collection }");
  const names = new Set([MESSAGES, messages]);
  for (const entry of collections as readonly CollectionOptions[]) {
    checkFields("qavr.collections", entry, OPTIONS, ["collection"]);
    const { name } = entry.collection;
    if (names.has(name))
      throw refused(
        `has two collections named ${name}; each needs a name of its own, and not that of the messages ("${messages}")`,
      );
    names.add(name);
  }
}

function refused(rule: string): QavrError {
  return new QavrError("INVALID_ARGUMENT", `qavr.collections ${rule}.`);
}
