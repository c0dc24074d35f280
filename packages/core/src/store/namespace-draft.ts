import { StateOverlay } from "./state-overlay.js";
import type { CommitReceipt, LedgerEntry, Reduce, SequencedEntry, StateRef } from "./store.js";
import { assertState, keptTime, sameBytes } from "./validate.js";

/** A key that is taken. */
export interface KnownKey {
  readonly seq: number;
  readonly payload: Uint8Array;
}

/** The key of an entry that is gone: it stays taken, and is told again by what is kept of its payload. */
export interface DroppedKey {
  readonly seq: number;
  /** Whether it was used with this payload. */
  hasPayload(payload: Uint8Array): boolean;
}

/** A commit under way: yields the states that it needs from the backend, receives them in the same order, ends with its receipts. */
export type DraftedCommit = Generator<
  readonly StateRef[],
  readonly CommitReceipt[],
  readonly (Uint8Array | undefined)[]
>;

/**
 * What a namespace gains in one transaction, reduced in memory first: each entry is inserted and each state written once,
 * however many commits touched it, and a commit whose reduction throws leaves no trace without any savepoint. Lives under the
 * lock of the namespace's head.
 */
export class NamespaceDraft {
  /** Last `seq`, drafted entries included. */
  head: number;
  readonly entries: SequencedEntry[] = [];
  readonly states: StateOverlay = new StateOverlay();
  readonly #byKey = new Map<string, SequencedEntry>();

  /** @param head the last `seq` in the backend */
  constructor(head: number) {
    this.head = head;
  }

  /**
   * Adds one commit on top of the earlier ones; several must not be under way at once.
   *
   * @param known looks a key up in the backend
   * @throws the reduction's error, or that of a refused write; nothing is added then
   */
  *add(
    entries: readonly LedgerEntry[],
    reduce: Reduce,
    known: (key: string) => KnownKey | DroppedKey | undefined,
  ): DraftedCommit {
    const call = new CommitDraft(this.head, this.states);
    const receipts: CommitReceipt[] = [];
    for (const entry of entries) {
      const taken = call.byKey.get(entry.key) ?? this.#byKey.get(entry.key) ?? known(entry.key);
      receipts.push(taken ? repeated(taken, entry) : yield* call.append(entry, reduce));
    }
    this.head = call.head;
    for (const entry of call.entries) {
      this.entries.push(entry);
      this.#byKey.set(entry.key, entry);
    }
    this.states.add(call.states);
    return receipts;
  }
}

/** One commit, kept apart until all its reductions are through. */
class CommitDraft {
  head: number;
  readonly entries: SequencedEntry[] = [];
  readonly byKey = new Map<string, SequencedEntry>();
  readonly states: StateOverlay;

  constructor(head: number, below: StateOverlay) {
    this.head = head;
    this.states = new StateOverlay(below);
  }

  *append(
    { key, type, at, payload }: LedgerEntry,
    reduce: Reduce,
  ): Generator<readonly StateRef[], CommitReceipt, readonly (Uint8Array | undefined)[]> {
    this.head += 1;
    const entry: SequencedEntry = { key, type, at: keptTime(at), payload, seq: this.head };
    const reduction = reduce(entry);
    let step = reduction.next();
    while (!step.done) step = reduction.next(yield* this.#read(step.value));
    for (const write of step.value) {
      assertState(write);
      this.states.set(write);
    }
    this.entries.push(entry);
    this.byKey.set(key, entry);
    return { status: "committed", seq: entry.seq };
  }

  /** States as the entry must see them: this commit's writes over those of earlier ones over the backend. */
  *#read(
    refs: readonly StateRef[],
  ): Generator<readonly StateRef[], (Uint8Array | undefined)[], readonly (Uint8Array | undefined)[]> {
    const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
    const unwritten: number[] = [];
    for (const [place, ref] of refs.entries()) {
      const written = this.states.get(ref);
      if (written === undefined) unwritten.push(place);
      else values[place] = written ?? undefined;
    }
    if (unwritten.length === 0) return values;
    const found = yield unwritten.map((place) => refs[place] as StateRef);
    for (const [i, place] of unwritten.entries()) values[place] = found[i];
    return values;
  }
}

function repeated(taken: KnownKey | DroppedKey, { payload }: LedgerEntry): CommitReceipt {
  const isSame = "payload" in taken ? sameBytes(taken.payload, payload) : taken.hasPayload(payload);
  return { status: isSame ? "duplicate" : "conflict", seq: taken.seq };
}
