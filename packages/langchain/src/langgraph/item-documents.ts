import { storableId } from "../document-ids.js";
import type { Found } from "../ranking/host.js";
import type { StoredItem } from "./stored-item.js";

/** Items, with their texts, as the ranking reads them. An item's id is its whole path, so that tenants' keys never meet. */
export function foundIn(items: readonly StoredItem[], texts: readonly string[]): Found {
  return {
    documents: items.map(({ namespace, key }, i) => ({
      id: storableId(JSON.stringify([...namespace, key])),
      pageContent: texts[i] as string,
      metadata: {},
    })),
    scores: items.map(({ score }) => score),
  };
}
