import type { Learner } from "../learners/learner.js";
import { Draft, type Loading } from "../ledger/draft.js";
import { MAX_CONFIRMED, MemoryRecord } from "../ledger/memory-record.js";
import type { SharedRecord } from "../ledger/shared-record.js";
import { SCOPES } from "../ledger/state-keys.js";
import type { StatsRecord } from "../ledger/stats-record.js";
import { readable } from "../ledger/unreadable.js";
import type { SequencedEntry, StateRef } from "../store/store.js";
import type { StateOverlay } from "../store/write-overlay.js";

/** Records of memories, of collections and of the counts, each with a function that makes its bytes. */
export type KeptRecords = StateOverlay<{ readonly record: object; encode(): Uint8Array }>;

/**
 * A draft that keeps records decoded for later entries, in place of writes. An entry that takes one has the record that would be read from
 * its bytes: the learner's state passes its codec, which may round.
 */
export class KeepingDraft extends Draft<unknown, unknown> {
  readonly #records: KeptRecords;

  constructor(learner: Learner, entry: SequencedEntry, records: KeptRecords) {
    super(learner, entry);
    this.#records = records;
  }

  override *load(refs: readonly StateRef[]): Loading {
    yield* super.load(refs.filter((ref) => !this.#take(ref)));
  }

  protected override put(ref: StateRef, record: object, encode: () => Uint8Array): void {
    this.#records.set({ ...ref, value: { record, encode } });
  }

  /** Returns false for a state that is not kept. */
  #take(ref: StateRef): boolean {
    const record = this.#records.get(ref)?.record;
    if (record instanceof MemoryRecord) {
      const memories = this.memoriesIn(ref.scope);
      if (!memories.has(ref.id)) memories.set(ref.id, this.#readMemory(record));
    } else if (ref.scope === SCOPES.shared && record) {
      if (!this.collections.has(ref.id))
        this.collections.set(ref.id, this.#readShared(record as SharedRecord<unknown>));
    } else if (record) this.stats = record as StatsRecord;
    return record !== undefined;
  }

  #readMemory(record: MemoryRecord<unknown>): MemoryRecord<unknown> {
    if (!record.isAsStored) return new MemoryRecord(this.learner.memory, record.encode());
    record.wasShown = record.shown > 0;
    record.confirmed = Math.min(record.confirmed, MAX_CONFIRMED);
    return record;
  }

  #readShared(record: SharedRecord<unknown>): SharedRecord<unknown> {
    const { shared } = this.learner;
    const bytes = shared.encode(record.state, 0);
    record.state = bytes.length === 0 ? shared.empty() : readable(() => shared.decode(bytes));
    return record;
  }
}
