import type { Store } from "@qavr/core";
import type { StateWrite } from "@qavr/core/store";

/** Sums over outcomes. Bytes are those of the values, without addresses and pages of the store. */
export interface OutcomeWrites {
  readonly outcomes: number;
  readonly states: number;
  readonly bytes: number;
}

/** A store that counts what the reduction of each new outcome writes. */
export interface CountingStore {
  readonly store: Store;
  /** New outcomes since the last `reset`. Duplicates are not reduced, so they do not count. */
  writes(): OutcomeWrites;
  reset(): void;
}

const NONE: OutcomeWrites = { outcomes: 0, states: 0, bytes: 0 };

/** Counts outcomes only: an exposure writes the same for every learner. A removed state counts as a write of no bytes. */
export function countOutcomeWrites(store: Store): CountingStore {
  let sum = NONE;
  const commit: Store["commit"] = async (namespace, entries, reduce) => {
    // By key: a store may begin a reduction more than once, and the receipts come at the end.
    const written = new Map<string, readonly StateWrite[]>();
    const receipts = await store.commit(namespace, entries, function* watch(entry) {
      const writes = yield* reduce(entry);
      written.set(entry.key, writes);
      return writes;
    });
    for (const [place, { key, type }] of entries.entries()) {
      if (type !== "outcome" || receipts[place]?.status !== "committed") continue;
      const writes = written.get(key) ?? [];
      sum = {
        outcomes: sum.outcomes + 1,
        states: sum.states + writes.length,
        bytes: writes.reduce((bytes, { value }) => bytes + (value?.length ?? 0), sum.bytes),
      };
    }
    return receipts;
  };
  return {
    store: { ...store, commit },
    writes: () => sum,
    reset() {
      sum = NONE;
    },
  };
}
