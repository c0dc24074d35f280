import type { ScannedState, Store } from "./store.js";

const PAGE = 1_000;

/** Every state of a scope, page by page. */
export async function* scanAll(
  store: Store,
  namespace: string,
  scope: string,
): AsyncGenerator<readonly ScannedState[]> {
  for (let after: string | undefined; ; ) {
    const page = await store.scanStates(namespace, scope, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}
