import type { CommitReceipt, LedgerEntry, Reduce, SequencedEntry, StateRef, StateWrite, TakenKey } from "./store.js";
import { assertState, sameBytes, withoutNegativeZero } from "./validate.js";

/** Work that yields the states it needs and receives them in the same order, `undefined` for a state that does not exist. */
export type OnStates<Result> = Generator<readonly StateRef[], Result, readonly (Uint8Array | undefined)[]>;

/** Runs such work to its end, on states that can be read at once. */
export function runOn<Result>(
  work: OnStates<Result>,
  read: (refs: readonly StateRef[]) => readonly (Uint8Array | undefined)[],
): Result {
  let step = work.next();
  while (!step.done) step = work.next(read(step.value));
  return step.value;
}

/** The states of a scope by id, to write to. */
export function statesIn<Value>(scopes: Map<string, Map<string, Value>>, scope: string): Map<string, Value> {
  const states = scopes.get(scope) ?? new Map<string, Value>();
  scopes.set(scope, states);
  return states;
}

/** State writes above a backend, or above another overlay. The last write of a state counts; `null` is a removal. */
export class StateOverlay {
  readonly #below: StateOverlay | undefined;
  /** The writes, by scope and id. */
  readonly scopes: Map<string, Map<string, Uint8Array | null>> = new Map<string, Map<string, Uint8Array | null>>();

  /** @param below earlier writes, visible where this overlay has none */
  constructor(below?: StateOverlay) {
    this.#below = below;
  }

  /** The value written last, null for a removed state, undefined for one that was not written. */
  get(ref: StateRef): Uint8Array | null | undefined {
    const written = this.scopes.get(ref.scope)?.get(ref.id);
    return written === undefined ? this.#below?.get(ref) : written;
  }

  set({ scope, id, value }: StateWrite): void {
    statesIn(this.scopes, scope).set(id, value);
  }

  /** Every write of this overlay, scope by scope. */
  *writes(): Iterable<StateWrite> {
    for (const [scope, states] of this.scopes) for (const [id, value] of states) yield { scope, id, value };
  }

  /**
   * Reduces one entry, keeps its writes and returns them. Yields only the states that no overlay has.
   *
   * @throws the reduction's error, or the error of {@link assertState}; nothing of this entry is kept then
   */
  *reduce(entry: SequencedEntry, reduce: Reduce): OnStates<readonly StateWrite[]> {
    const reduction = reduce(entry);
    let step = reduction.next();
    while (!step.done) step = reduction.next(yield* this.#read(step.value));
    for (const write of step.value) assertState(write);
    for (const write of step.value) this.set(write);
    return step.value;
  }

  *#read(refs: readonly StateRef[]): OnStates<(Uint8Array | undefined)[]> {
    const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
    const unwritten: number[] = [];
    for (const [place, ref] of refs.entries()) {
      const written = this.get(ref);
      if (written === undefined) unwritten.push(place);
      else values[place] = written ?? undefined;
    }
    if (unwritten.length === 0) return values;
    const found = yield unwritten.map((place) => refs[place] as StateRef);
    for (const [i, place] of unwritten.entries()) values[place] = found[i];
    return values;
  }
}

/**
 * Entries and state writes of one namespace that are not in its backend yet. A transaction reduces all its commits here first: it
 * inserts each entry and writes each state once, and a commit whose reduction throws leaves no trace without any savepoint. Valid
 * while the caller holds the lock of the namespace's head.
 */
export class WriteOverlay {
  readonly states: StateOverlay = new StateOverlay();
  readonly #base: number;
  readonly #entries = new Map<string, SequencedEntry>();

  /** @param head the last `seq` in the backend */
  constructor(head: number) {
    this.#base = head;
  }

  /** The last `seq`, new entries included. */
  get head(): number {
    return this.#base + this.#entries.size;
  }

  /** The new entries in order. */
  get entries(): readonly SequencedEntry[] {
    return [...this.#entries.values()];
  }

  /**
   * Adds one commit above the earlier ones. One commit must end before the next begins.
   *
   * @param known looks a key up in the backend
   * @throws the reduction's error, or the error of a refused write; nothing of this commit is kept then
   */
  *commit(
    entries: readonly LedgerEntry[],
    reduce: Reduce,
    known: (key: string) => TakenKey | undefined,
  ): OnStates<readonly CommitReceipt[]> {
    const states = new StateOverlay(this.states);
    const added = new Map<string, SequencedEntry>();
    const receipts: CommitReceipt[] = [];
    for (const { key, type, at, payload } of entries) {
      const own = added.get(key) ?? this.#entries.get(key);
      const taken = own ? takenBy(own) : known(key);
      if (taken) {
        receipts.push({ status: taken.hasPayload(payload) ? "duplicate" : "conflict", seq: taken.seq });
        continue;
      }
      const seq = this.head + added.size + 1;
      const entry: SequencedEntry = { key, type, at: withoutNegativeZero(at), payload, seq };
      yield* states.reduce(entry, reduce);
      added.set(key, entry);
      receipts.push({ status: "committed", seq });
    }
    for (const [key, entry] of added) this.#entries.set(key, entry);
    for (const write of states.writes()) this.states.set(write);
    return receipts;
  }
}

/** The key of an entry whose payload is at hand. */
export function takenBy({ seq, payload }: SequencedEntry): TakenKey {
  return { seq, hasPayload: (other) => sameBytes(payload, other) };
}
