import { labelScope, textOfValue } from "../ledger/state-keys.js";
import { STORE_LIMITS, type Store } from "../store/store.js";

/** The labels of memories that have one, by id. */
export async function labelsOf(
  store: Store,
  namespace: string,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const labels = new Map<string, string>();
  for (let start = 0; start < ids.length; start += STORE_LIMITS.batch) {
    const part = ids.slice(start, start + STORE_LIMITS.batch);
    const found = await store.readStates(namespace, labelScope(collection), part);
    part.forEach((id, i) => {
      const value = found[i];
      if (value) labels.set(id, textOfValue(value));
    });
  }
  return labels;
}
