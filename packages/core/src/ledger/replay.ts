import { stateAddress } from "../store/state-address.js";
import type { Reduce, SequencedEntry, StateWrite, Store } from "../store/store.js";

const PAGE = 1_000;

/** A fold of entries in memory: state is a cache, and this is how it is computed from nothing. */
export class Fold {
  readonly #states = new Map<string, StateWrite & { readonly value: Uint8Array }>();
  #entries = 0;

  get entries(): number {
    return this.#entries;
  }

  /** Every state, in no particular order. */
  get states(): readonly (StateWrite & { readonly value: Uint8Array })[] {
    return [...this.#states.values()];
  }

  add(entry: SequencedEntry, reduce: Reduce): void {
    this.#entries += 1;
    const reduction = reduce(entry);
    let step = reduction.next();
    while (!step.done) step = reduction.next(step.value.map((ref) => this.#states.get(stateAddress(ref))?.value));
    for (const { scope, id, value } of step.value) {
      if (value === null) this.#states.delete(stateAddress({ scope, id }));
      else this.#states.set(stateAddress({ scope, id }), { scope, id, value });
    }
  }
}

/** Folds a namespace's whole ledger. */
export async function foldLedger(store: Store, namespace: string, reduce: Reduce): Promise<Fold> {
  const fold = new Fold();
  for (let after = 0; ; ) {
    const entries = await store.readEntries(namespace, { after, limit: PAGE });
    for (const entry of entries) fold.add(entry, reduce);
    const last = entries.at(-1);
    if (!last) return fold;
    after = last.seq;
  }
}
