import type { Store } from "@qavr/core";
import type { LedgerEntry, Reduction, StateRef } from "@qavr/core/store";

/** Memories that tallies are about. */
const MEMORIES = 20;
const COUNT: StateRef = { scope: "stats", id: "count" };
const SCOPE = "memory:docs";
export const NAMESPACE = "n";

/** An outcome in the smallest form: a number behind a prefix, `p1-17`. */
export function tally(key: string): LedgerEntry {
  return { key, type: "tally", at: 0, payload: new TextEncoder().encode(key) };
}

/** Adds one to a count and to up to five of twenty memories, in an order that differs from tally to tally. */
export function* counting({ key }: { readonly key: string }): Reduction {
  const refs = [COUNT, ...memoriesOf(key).map((id) => ({ scope: SCOPE, id }))];
  const values = yield refs;
  return refs.map((ref, i) => ({ ...ref, value: new TextEncoder().encode(String(numberIn(values[i]) + 1)) }));
}

function memoriesOf(key: string): string[] {
  const n = Number(/\d+/.exec(key.slice(key.indexOf("-")))?.[0]);
  return [...new Set([0, 1, 2, 3, 4].map((i) => `m${(n * 7 + i * (1 + (n % 3))) % MEMORIES}`))];
}

function numberIn(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : Number(new TextDecoder().decode(bytes));
}

/** Contents of a ledger of tallies. */
export interface TallySum {
  /** Place by key; of a key that is there twice, the last one. */
  readonly places: ReadonlyMap<string, number>;
  readonly entries: number;
  /** Entries whose place does not follow from the one before. */
  readonly gaps: number;
  /** Counts that are not what the entries add up to. */
  readonly wrong: number;
}

/** Reads a whole ledger of tallies, adds it up again and holds its states against that. */
export async function addUp(store: Store, namespace: string = NAMESPACE): Promise<TallySum> {
  const places = new Map<string, number>();
  const expected = new Map<string, number>();
  let [entries, gaps, last] = [0, 0, 0];
  for (;;) {
    const page = await store.readEntries(namespace, { after: last, limit: 10_000 });
    for (const { key, seq } of page) {
      if (seq !== last + 1) gaps += 1;
      last = seq;
      places.set(key, seq);
      for (const id of memoriesOf(key)) expected.set(id, (expected.get(id) ?? 0) + 1);
    }
    entries += page.length;
    if (page.length === 0) break;
  }
  const [total] = await store.readStates(namespace, COUNT.scope, [COUNT.id]);
  const found = new Map(
    (await store.scanStates(namespace, SCOPE, { limit: 1_000 })).map(({ id, value }) => [id, numberIn(value)]),
  );
  const ids = new Set([...expected.keys(), ...found.keys()]);
  const wrong = [...ids].filter((id) => expected.get(id) !== found.get(id)).length;
  return { places, entries, gaps, wrong: wrong + (numberIn(total) === entries ? 0 : 1) };
}
