import { stateAddress } from "../store/state-address.js";
import type { Reduce, SequencedEntry, StateRef, StateWrite, Store } from "../store/store.js";
import { decodeEvent } from "./event-codec.js";
import { type Revocation, Revocations } from "./revocation.js";
import { rebuildRef } from "./state-keys.js";

const PAGE = 1_000;

/** A fold of entries in memory: state is a cache, and this is how it is computed from nothing. */
export class Fold {
  readonly #states = new Map<string, StateWrite & { readonly value: Uint8Array }>();
  #entries = 0;

  /** Entries seen, those that were left out included: the place of the last one. */
  get entries(): number {
    return this.#entries;
  }

  /** Every state, in no particular order. */
  get states(): readonly (StateWrite & { readonly value: Uint8Array })[] {
    return [...this.#states.values()];
  }

  state(ref: StateRef): Uint8Array | undefined {
    return this.#states.get(stateAddress(ref))?.value;
  }

  add(entry: SequencedEntry, reduce: Reduce): void {
    this.#entries += 1;
    const reduction = reduce(entry);
    let step = reduction.next();
    while (!step.done) step = reduction.next(step.value.map((ref) => this.state(ref)));
    for (const { scope, id, value } of step.value) {
      if (value === null) this.#states.delete(stateAddress({ scope, id }));
      else this.#states.set(stateAddress({ scope, id }), { scope, id, value });
    }
  }

  /** Passes an entry over: its place stays empty. */
  skip(): void {
    this.#entries += 1;
  }

  drop(ref: StateRef): void {
    this.#states.delete(stateAddress(ref));
  }
}

/**
 * A fold of a namespace's whole ledger without the outcomes that were revoked. Entries keep their places: what was revoked leaves
 * its own empty, so that everything which names a place (an exposure of an episode, a forgetting) names the same one as before.
 */
export class LedgerReplay {
  readonly #store: Store;
  readonly #namespace: string;
  readonly #reduce: Reduce;
  readonly #revocations = new Revocations();
  #fold = new Fold();

  /** @param planned treated as if it stood at the end of the ledger */
  constructor(store: Store, namespace: string, reduce: Reduce, planned?: Revocation) {
    this.#store = store;
    this.#namespace = namespace;
    this.#reduce = reduce;
    if (planned) this.#revocations.add([planned]);
  }

  get revocations(): Revocations {
    return this.#revocations;
  }

  /** Folds what was appended since the last call. `before` is shown each entry before it is folded; none that is left out. */
  async advance(before?: (entry: SequencedEntry, fold: Fold) => void): Promise<Fold> {
    for (;;) {
      const entries = await this.#read(this.#fold.entries);
      if (entries.length === 0) return this.#fold;
      if (await this.#learnOfRevocations(entries)) continue;
      for (const entry of entries) {
        if (this.#revocations.takesOut(entry)) {
          this.#fold.skip();
          continue;
        }
        before?.(entry, this.#fold);
        this.#fold.add(entry, this.#reduce);
        // What a revocation asks for has been done here.
        if (entry.type === "revoke") this.#fold.drop(rebuildRef);
      }
    }
  }

  /** Starts again when there are revocations that were not known of: they concern what is folded already. */
  async #learnOfRevocations(entries: readonly SequencedEntry[]): Promise<boolean> {
    const isNew = ({ type, seq }: SequencedEntry): boolean => type === "revoke" && !this.#revocations.has(seq);
    if (!entries.some(isNew)) return false;
    const found: Revocation[] = [];
    for (let page = entries; page.length > 0; page = await this.#read((page.at(-1) as SequencedEntry).seq)) {
      for (const entry of page.filter(isNew)) {
        const event = decodeEvent(entry.type, entry.payload);
        if (event.type === "revoke") found.push({ event, seq: entry.seq });
      }
    }
    this.#revocations.add(found);
    this.#fold = new Fold();
    return true;
  }

  async #read(after: number): Promise<readonly SequencedEntry[]> {
    return this.#store.readEntries(this.#namespace, { after, limit: PAGE });
  }
}
