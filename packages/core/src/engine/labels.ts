import { labelScope, textOfValue } from "../ledger/state-keys.js";
import type { Store } from "../store/store.js";

/** The labels of memories that have one, by id. */
export async function labelsOf(
  store: Store,
  namespace: string,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>();
  if (ids.length === 0) return labels;
  const found = await store.readStates(namespace, labelScope(collection), ids);
  ids.forEach((id, i) => {
    const value = found[i];
    if (value) labels.set(id, textOfValue(value));
  });
  return labels;
}
