import type { BaseStore } from "@langchain/core/stores";
import { storableId } from "../document-ids.js";
import type { MemoryParts } from "../memory-parts.js";
import type { Found } from "../ranking/host.js";
import { rankingFailed } from "../ranking/rerank.js";
import type { RunSite } from "../runs/find-run.js";

/** An item of a LangGraph store, as a search finds it. Structural, so that its users need no LangGraph. */
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
 * A store as code in a run gets it: from LangGraph's nodes, or from a tool's runtime, which declares the same store under a more
 * general type.
 */
export type GivenStore = SearchableStore | BaseStore<string, unknown> | null | undefined;

/** An item that `memory.search` found. */
export interface FoundItem extends StoredItem {
  /** Its text, as the `textOf` option reads it. */
  readonly text: string;
  /** Its handle for prompts and reports; undefined where nothing was recorded. */
  readonly handle: string | undefined;
  /** The episode that it was shown in, for a later `memory.report`; undefined where nothing was recorded. */
  readonly episode: string | undefined;
}

/** Items, with their texts, as the ranking reads them. An item's id is its whole path, so that equal keys of two tenants differ. */
export function foundIn(items: readonly StoredItem[], texts: readonly string[]): Found {
  return {
    documents: items.map(({ namespace, key, createdAt }, i) => ({
      id: storableId(JSON.stringify([...namespace, key])),
      pageContent: texts[i] as string,
      metadata: { created_at: createdAt },
    })),
    scores: items.map(({ score }) => score),
  };
}

/**
 * The texts of items, for people and models. Where the application's `textOf` fails, they are the texts without it.
 *
 * @throws only when failures of learning reach the caller.
 */
export function itemTexts(
  { kit }: Pick<MemoryParts, "kit">,
  site: RunSite,
  items: readonly StoredItem[],
  { textOf }: { readonly textOf?: ((item: StoredItem) => string) | undefined },
): string[] {
  if (!textOf) return items.map(plainText);
  try {
    return items.map((item) => asText(textOf(item)));
  } catch (error) {
    rankingFailed(kit, site, error);
    return items.map(plainText);
  }
}

/** A value's only field if that is a text, else its JSON. */
function plainText({ value }: StoredItem): string {
  const fields = Object.values(value ?? {});
  const [only] = fields;
  if (fields.length === 1 && typeof only === "string") return only;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // A store in memory may hold values without JSON.
    return String(value);
  }
}

function asText(text: unknown): string {
  if (typeof text === "string") return text;
  throw new TypeError(`textOf must return a text. It returned ${typeof text}.`);
}
