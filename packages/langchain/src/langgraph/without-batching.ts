/**
 * The store inside the one that a graph hands its nodes: LangGraph puts an `AsyncBatchedStore` around it, which gathers the calls of
 * all runs and refuses batches of its own. Recognised as LangGraph does; any other store is returned as it is.
 */
export function withoutBatching<Store>(store: Store): Store {
  const { lg_name: kind, store: inner } = (store ?? {}) as { readonly lg_name?: unknown; readonly store?: Store };
  return kind === "AsyncBatchedStore" && inner ? inner : store;
}
