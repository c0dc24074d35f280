import { storableId } from "../document-ids.js";
import type { Found } from "../host.js";
import { itemText, type StoreOptions } from "./store-options.js";
import type { StoredItem } from "./stored-item.js";

/** Items as the ranking reads them. An item's id is its whole path, so that tenants' keys never meet. */
export function foundIn(items: readonly StoredItem[], options: StoreOptions): Found {
  return {
    documents: items.map((item) => ({
      id: storableId(JSON.stringify([...item.namespace, item.key])),
      pageContent: itemText(item, options),
      metadata: {},
    })),
    scores: items.map(({ score }) => score),
  };
}
