import { governance } from "../governance/governance.js";
import type { Learner } from "../learners/learner.js";
import { noRecords, type Records } from "../ledger/draft.js";
import { decodeEvent } from "../ledger/event-codec.js";
import { ledgerReducer, MAINTENANCE_EVENTS } from "../ledger/maintenance-events.js";
import { rebuildRef, statsRef } from "../ledger/state-keys.js";
import { decodeStats } from "../ledger/stats-record.js";
import { stateAddress } from "../store/state-address.js";
import type {
  Checkpoint,
  CheckpointChange,
  Reduce,
  SequencedEntry,
  StateRef,
  Store,
  StoredState,
} from "../store/store.js";
import { runOn, StateOverlay } from "../store/write-overlay.js";
import { encodeKept, KeepingDraft, keptIn } from "./kept-records.js";
import type { Progress } from "./progress.js";
import { type Revocation, Revocations } from "./revocations.js";

/** Entries that are folded at once: some ten milliseconds. */
const PAGE = 100;
/** Entries that are read at once. A call of a server costs more than 100 of them. */
const READ = 5 * PAGE;

// Bound when the module loads, so that tests with fake timers do not stop a fold. A timeout of 0 ms takes more than 1 ms, a tenth of a page.
const { setImmediate: afterThisTurn = setTimeout } = globalThis as { setImmediate?: (call: () => void) => unknown };
const nextTurn = (): Promise<void> => new Promise((resolve) => void afterThisTurn(resolve));

/** Records that stay decoded at once, and one page more: some tens of megabytes. */
const KEPT = 16_384;

/** A fold of entries in memory, from nothing or from a checkpoint. */
export class Fold {
  readonly #states = new StateOverlay();
  readonly #learner: Learner;
  readonly #reduce: Reduce;
  /** Newer than the states. */
  #records: Records = noRecords();
  #entries: number;
  /** Undefined before the first call of `takeTouched`: a whole ledger touches every state. */
  #touched: Map<string, StateRef> | undefined;

  /** @param checkpoint where it begins; undefined: at the ledger's first entry */
  constructor(learner: Learner, checkpoint?: Checkpoint) {
    this.#learner = learner;
    // The rules of governance are part of each entry, so its options do not matter here.
    this.#reduce = ledgerReducer(learner, governance(), (entry) => new KeepingDraft(learner, entry, this.#records));
    this.#entries = checkpoint?.seq ?? 0;
    for (const state of checkpoint?.states ?? []) this.#states.set(state);
  }

  /** Place of the last entry seen, skipped ones included. */
  get entries(): number {
    return this.#entries;
  }

  get states(): StateOverlay {
    this.#encode();
    return this.#states;
  }

  /** Number of states. */
  get size(): number {
    let size = 0;
    for (const { value } of this.states.writes()) if (value) size++;
    return size;
  }

  state(ref: StateRef): Uint8Array | undefined {
    return this.states.get(ref) ?? undefined;
  }

  add(entry: SequencedEntry): void {
    if (this.#entries % PAGE === 0 && keptIn(this.#records) >= KEPT) this.#encode();
    this.#entries += 1;
    this.#touch(runOn(this.#states.reduce(entry, this.#reduce), (refs) => refs.map(() => undefined)));
  }

  /** The states that entries have changed since the last call; none at the first call. */
  takeTouched(): readonly StateRef[] {
    this.#encode();
    const touched = [...(this.#touched?.values() ?? [])];
    this.#touched = new Map();
    return touched;
  }

  /** Passes over an entry; its place stays empty. */
  skip(): void {
    this.#entries += 1;
  }

  drop(ref: StateRef): void {
    this.states.set({ ...ref, value: null });
    this.#touch([ref]);
  }

  #encode(): void {
    for (const state of encodeKept(this.#learner, this.#records)) {
      this.#states.set(state);
      this.#touch([state]);
    }
    this.#records = noRecords();
  }

  #touch(refs: readonly StateRef[]): void {
    if (!this.#touched) return;
    for (const { scope, id } of refs) this.#touched.set(stateAddress({ scope, id }), { scope, id });
  }
}

export interface LedgerReplayOptions {
  readonly store: Store;
  readonly namespace: string;
  /** By whose arithmetic. */
  readonly learner: Learner;
  /** Treated as if it stood at the end of the ledger. */
  readonly planned?: Revocation;
  readonly progress?: Progress | undefined;
}

/**
 * A fold of a namespace's whole ledger, or of the part after its checkpoint, without the revoked outcomes. Entries keep their places:
 * the place of a revoked outcome stays empty, so that a place named elsewhere (an exposure of an episode, a forgetting) is still right.
 */
export class LedgerReplay {
  readonly #store: Store;
  readonly #namespace: string;
  readonly #learner: Learner;
  readonly #progress: Progress | undefined;
  /** When the fold began. */
  #head = 0;
  readonly #revocations = new Revocations();
  #checkpoint: Checkpoint | undefined;
  /** Undefined before the beginning of the ledger is known, and when it has to be folded again. */
  #fold: Fold | undefined;

  constructor({ store, namespace, learner, planned, progress }: LedgerReplayOptions) {
    this.#store = store;
    this.#progress = progress;
    this.#namespace = namespace;
    this.#learner = learner;
    if (planned) this.#revocations.add([planned]);
  }

  /** Place of the last entry that this fold cannot take apart any more; 0 for a ledger that is whole. */
  get checkpoint(): number {
    return this.#checkpoint?.seq ?? 0;
  }

  get revocations(): Revocations {
    return this.#revocations;
  }

  /**
   * Folds the entries appended since the last call. `before` gets each entry before it is folded, except those that are left out.
   *
   * @throws STORE_CORRUPT, and the store's codes
   */
  async advance(before?: (entry: SequencedEntry, fold: Fold) => void): Promise<Fold> {
    for (;;) {
      const fold = this.#fold ?? (await this.#begin());
      this.#fold = fold;
      const entries = await this.#read(fold.entries);
      if (entries.length === 0) return fold;
      // Compacted in the meantime: the missing entries are in the new checkpoint.
      if (entries[0]?.seq !== fold.entries + 1) {
        this.#fold = undefined;
        continue;
      }
      if (await this.#learnOfRevocations(entries)) continue;
      for (let start = 0; start < entries.length; start += PAGE) {
        this.#take(fold, entries.slice(start, start + PAGE), before);
        this.#progress?.(fold.entries - this.checkpoint, Math.max(this.#head, fold.entries) - this.checkpoint);
        // Others have their turn between two pages.
        await nextTurn();
      }
    }
  }

  /** Folds entries that a store hands over at its head. Returns false where {@link advance} has to begin again; it does so then. */
  follow(entries: readonly SequencedEntry[], head: number): boolean {
    const fold = this.#fold;
    if (!fold) return false;
    const fresh = entries.filter(({ seq }) => seq > fold.entries);
    const [first] = fresh;
    // Erased, or compacted, in the meantime.
    const isGone = head < fold.entries || (first !== undefined && first.seq !== fold.entries + 1);
    if (isGone || fresh.some((entry) => this.#isNew(entry))) {
      if (isGone) this.#fold = undefined;
      return false;
    }
    this.#take(fold, fresh);
    return true;
  }

  /**
   * Folds the beginning again, up to a place, without the outcomes revoked by now. Yields the later beginnings of the ledger on the
   * way, each as a change of the one before; ends early if another compaction is ahead.
   */
  async *beginnings(through: number): AsyncGenerator<CheckpointChange> {
    const { seq, states } = this.#checkpoint ?? { seq: 0, states: [] };
    const fold = this.#foldFrom(this.#checkpoint);
    if (fold.size < states.length) yield* removals(seq, states);
    fold.takeTouched();
    while (fold.entries < through) {
      const entries = await this.#read(fold.entries, Math.min(PAGE, through - fold.entries));
      if (entries[0]?.seq !== fold.entries + 1) return;
      this.#take(fold, entries);
      yield {
        seq: fold.entries,
        states: fold.takeTouched().map((ref) => ({ ...ref, value: fold.state(ref) ?? null })),
      };
      this.#progress?.(fold.entries - seq, through - seq);
      await nextTurn();
    }
  }

  #take(fold: Fold, entries: readonly SequencedEntry[], before?: (entry: SequencedEntry, fold: Fold) => void): void {
    for (const entry of entries) {
      if (this.#revocations.takesOut(entry)) {
        fold.skip();
        continue;
      }
      before?.(entry, fold);
      fold.add(entry);
      // This fold has done the rebuild that the revocation asks for.
      if (entry.type === "revoke") fold.drop(rebuildRef);
    }
  }

  #isNew({ type, seq }: SequencedEntry): boolean {
    return type === "revoke" && !this.#revocations.has(seq);
  }

  /** Starts again when there are new revocations: they concern entries that are folded already. */
  async #learnOfRevocations(entries: readonly SequencedEntry[]): Promise<boolean> {
    const isNew = (entry: SequencedEntry): boolean => this.#isNew(entry);
    if (!entries.some(isNew)) return false;
    const found: Revocation[] = [];
    for (let page = entries; page.length > 0; page = await this.#read((page.at(-1) as SequencedEntry).seq)) {
      for (const entry of page.filter(isNew)) {
        const event = decodeEvent(entry.type, entry.payload, MAINTENANCE_EVENTS);
        if (event.type === "revoke") found.push({ event, seq: entry.seq });
      }
    }
    this.#revocations.add(found);
    this.#fold = undefined;
    return true;
  }

  /** Another learner cannot read a checkpoint's states: it begins there, without the entries before. */
  async #begin(): Promise<Fold> {
    // Refuses a head that does not name the last entry: a fold could never meet it.
    this.#head = await this.#store.head(this.#namespace);
    this.#checkpoint = await this.#store.readCheckpoint?.(this.#namespace);
    return this.#foldFrom(this.#checkpoint);
  }

  #foldFrom(checkpoint: Checkpoint | undefined): Fold {
    if (!checkpoint) return new Fold(this.#learner);
    const { seq, states } = checkpoint;
    const stats = states.find(isStats)?.value;
    const isReadable = stats !== undefined && decodeStats(stats).learner === this.#learner.id;
    return new Fold(this.#learner, { seq, states: isReadable ? states : [] });
  }

  async #read(after: number, limit: number = READ): Promise<readonly SequencedEntry[]> {
    return this.#store.readEntries(this.#namespace, { after, limit });
  }
}

const isStats = ({ scope, id }: StateRef): boolean => scope === statsRef.scope && id === statsRef.id;

/** Removes a checkpoint's states, a few at a time. The counts go first: without them no learner reads the others. */
function* removals(seq: number, states: readonly StoredState[]): Generator<CheckpointChange> {
  const ordered = states.toSorted((a, b) => Number(isStats(b)) - Number(isStats(a)));
  for (let start = 0; start < ordered.length; start += PAGE) {
    yield { seq, states: ordered.slice(start, start + PAGE).map(({ scope, id }) => ({ scope, id, value: null })) };
  }
}
