import type { StateWrite, Store } from "@qavr/core";

/** What kind of state it is: memories that learned, the runs' own records, or the rest (the collection, counts, places of a ring). */
export type StateKind = "memory" | "episode" | "other";

export interface Written {
  readonly states: number;
  /** Bytes of the values; addresses and what the store adds of its own not counted. */
  readonly bytes: number;
}

/** What outcomes wrote, in sum. */
export interface OutcomeWrites {
  readonly outcomes: number;
  readonly kinds: Readonly<Record<StateKind, Written>>;
}

/** A store that counts what the reduction of each new outcome writes. */
export interface CountingStore {
  readonly store: Store;
  /** Outcomes since the last `reset`; refused ones and duplicates, which are never reduced, are not among them. */
  writes(): OutcomeWrites;
  reset(): void;
}

const NOTHING: OutcomeWrites = {
  outcomes: 0,
  kinds: { memory: { states: 0, bytes: 0 }, episode: { states: 0, bytes: 0 }, other: { states: 0, bytes: 0 } },
};

/** Counts outcomes alone: what an exposure writes is the same for every learner. A removed state counts as a write of no bytes. */
export function countOutcomeWrites(store: Store): CountingStore {
  let sum = NOTHING;
  const commit: Store["commit"] = async (namespace, entries, reduce) => {
    // By key: a store may begin a reduction more than once, and what it keeps is known afterwards.
    const written = new Map<string, readonly StateWrite[]>();
    const receipts = await store.commit(namespace, entries, function* watch(entry) {
      const writes = yield* reduce(entry);
      written.set(entry.key, writes);
      return writes;
    });
    for (const [place, { key, type }] of entries.entries()) {
      if (type === "outcome" && receipts[place]?.status === "committed") sum = plus(sum, written.get(key) ?? []);
    }
    return receipts;
  };
  return {
    store: { ...store, commit },
    writes: () => sum,
    reset() {
      sum = NOTHING;
    },
  };
}

function plus({ outcomes, kinds: before }: OutcomeWrites, writes: readonly StateWrite[]): OutcomeWrites {
  const kinds = { ...before };
  for (const { scope, value } of writes) {
    const kind = kindOf(scope);
    const { states, bytes } = kinds[kind];
    kinds[kind] = { states: states + 1, bytes: bytes + (value?.length ?? 0) };
  }
  return { outcomes: outcomes + 1, kinds };
}

function kindOf(scope: string): StateKind {
  if (scope.startsWith("memory:")) return "memory";
  return scope === "episode" ? "episode" : "other";
}

/** States and bytes of all kinds together. */
export function total({ kinds }: OutcomeWrites): Written {
  return Object.values(kinds).reduce(
    (sum, { states, bytes }) => ({ states: sum.states + states, bytes: sum.bytes + bytes }),
    { states: 0, bytes: 0 },
  );
}
