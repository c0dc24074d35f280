import type { Store } from "../../src/index.js";
import type { StateWrite } from "../../src/store-kit.js";

/** Writes states at the head of a namespace, whatever its ledger says. */
export async function writeStates(store: Store, namespace: string, states: readonly StateWrite[]): Promise<void> {
  await store.atHead(namespace, {
    after: Number.MAX_SAFE_INTEGER,
    limit: 1,
    write: true,
    // biome-ignore lint/correctness/useYield: work that needs to see no state yields nothing
    *work() {
      return { states };
    },
  });
}
