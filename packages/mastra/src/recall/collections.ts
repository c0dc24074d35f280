import { assertName, QavrError } from "@qavr/core";
import { assertKnownFields, type FieldsOf } from "@qavr/core/adapter";

/** The collection of messages in the ledger, unless it is named otherwise. */
export const MESSAGES = "messages";

/** What a collection is asked. */
export interface CollectionQuery {
  /** The user's request. */
  readonly text: string;
  /** How many memories to return at most. */
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
}

/** A body of memories that are not messages: lessons, claims, procedures. */
export interface MemoryCollection {
  /** Names it in the ledger; not `messages`. */
  readonly name: string;
  /** The best matches, best first. */
  search(query: CollectionQuery): Promise<readonly CollectionHit[]> | readonly CollectionHit[];
}

/** How one collection is recalled. */
export interface CollectionOptions {
  readonly collection: MemoryCollection;
  /** How many memories to show. @default 3 */
  readonly topK?: number | undefined;
  /** Characters that its texts may take in the prompt; what does not fit is not shown. @default 2,000 */
  readonly budget?: number | undefined;
  /** The heading that the model reads above them. @default the collection's name */
  readonly label?: string | undefined;
}

const FIELDS: FieldsOf<CollectionOptions> = { collection: true, topK: true, budget: true, label: true };

/** How many memories of a collection are shown when nobody says. */
export const COLLECTION_TOP_K = 3;
/** Characters of a collection's texts in a prompt when nobody says. */
export const COLLECTION_BUDGET = 2_000;

/** @param messages The collection of messages. @throws INVALID_ARGUMENT, INVALID_ID, LIMIT_EXCEEDED */
export function assertCollections(collections: readonly CollectionOptions[], messages: string): void {
  if (!Array.isArray(collections)) throw refused("must be a list of { collection }");
  const names = new Set([MESSAGES, messages]);
  for (const entry of collections as readonly CollectionOptions[]) {
    if (typeof entry !== "object" || entry === null) throw refused("must be a list of { collection }");
    assertKnownFields(entry, "qavr.collections has no option", FIELDS);
    const { collection, topK = COLLECTION_TOP_K, budget = COLLECTION_BUDGET, label } = entry;
    if (label !== undefined && (typeof label !== "string" || label === ""))
      throw refused("needs a label that is a string which is not empty");
    if (typeof collection?.search !== "function") throw refused("needs a collection with a name and a search method");
    const { name } = collection;
    assertName(name, "collection's name");
    if (names.has(name))
      throw refused(
        `has two collections named ${name}; each needs a name of its own, and not that of the messages ("${messages}")`,
      );
    names.add(name);
    for (const [option, value] of Object.entries({ topK, budget })) {
      if (!Number.isInteger(value) || value < 1)
        throw refused(`needs a ${option} that is a whole number of at least 1`);
    }
  }
}

function refused(rule: string): QavrError {
  return new QavrError("INVALID_ARGUMENT", `qavr.collections ${rule}.`);
}
