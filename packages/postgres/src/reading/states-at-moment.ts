import { type LedgerEntry, type Reduce, type Reduction, type StateRef, stateAddress } from "@qavr/core/store";
import type { Connection } from "../connection/connections.js";
import type { LedgerSql } from "../tables/ledger-sql.js";
import { isSameMoment, type Moment } from "../tables/moment.js";
import type { KnownStates } from "./known-states.js";

/** Entries that are reduced together. */
interface ReducedCall {
  readonly entries: readonly LedgerEntry[];
  readonly reduce: Reduce;
}

/** A reduction that waits for states. */
interface WaitingReduction {
  readonly reduction: Reduction;
  readonly wanted: readonly StateRef[];
}

/** Most rounds read ahead: a reduction reads an episode, and then its memories. */
const ROUNDS_AHEAD = 3;

/** States of a namespace at one moment, for reducing entries. Uses the cache while it is of the same moment. */
export class StatesAtMoment {
  readonly #connection: Connection;
  readonly #namespace: string;
  readonly #moment: Moment;
  readonly #sql: LedgerSql;
  readonly #states: KnownStates;
  /** States read so far, by address. */
  readonly #read = new Map<string, Uint8Array | undefined>();

  constructor(connection: Connection, namespace: string, moment: Moment, sql: LedgerSql, states: KnownStates) {
    this.#connection = connection;
    this.#namespace = namespace;
    this.#moment = moment;
    this.#sql = sql;
    this.#states = states;
  }

  /** Loads states in the order of the refs; undefined when the namespace has moved to another moment. */
  async load(refs: readonly StateRef[]): Promise<readonly (Uint8Array | undefined)[] | undefined> {
    const missing = this.#withoutCached(refs);
    if (missing.size > 0) {
      const found = await this.#sql.statesOf(this.#connection, this.#namespace, [...missing.values()]);
      if (!isSameMoment(found.moment, this.#moment)) return undefined;
      const keep = this.#isCached();
      for (const [place, [address, { scope, id }]] of [...missing].entries()) {
        const value = found.values[place];
        this.#read.set(address, value);
        if (keep) this.#states.cache.write(this.#namespace, scope, id, value);
      }
    }
    return refs.map((ref) => this.#read.get(stateAddress(ref)));
  }

  /**
   * Reads ahead for several entries: reduces them side by side on the current states and discards the results, so that one round trip
   * serves a round of all entries. States that depend on earlier entries of the commit are read later.
   *
   * @param head the last `seq` before them
   * @param taken keys that will not be reduced
   */
  async readAhead(calls: readonly ReducedCall[], head: number, taken: ReadonlyMap<string, unknown>): Promise<void> {
    const fresh = calls.flatMap(({ entries, reduce }) =>
      entries.filter(({ key }) => !taken.has(key)).map((entry) => ({ entry, reduce })),
    );
    if (fresh.length < 2) return;
    let waiting = fresh.flatMap(({ entry, reduce }, place) => {
      const reduction = attempt(() => reduce({ ...entry, seq: head + place + 1 }));
      return "error" in reduction ? [] : advanced(reduction, () => reduction.next());
    });
    for (let round = 0; round < ROUNDS_AHEAD && waiting.length > 0; round++) {
      const values = await this.load(waiting.flatMap(({ wanted }) => wanted));
      if (!values) return;
      let place = 0;
      waiting = waiting.flatMap(({ reduction, wanted }) => {
        const own = values.slice(place, place + wanted.length);
        place += wanted.length;
        return advanced(reduction, () => reduction.next(own));
      });
    }
    for (const { reduction } of waiting) attempt(() => reduction.return([]));
  }

  /** Takes cached states, and returns the other refs by address. */
  #withoutCached(refs: readonly StateRef[]): Map<string, StateRef> {
    const usable = this.#isCached();
    const missing = new Map<string, StateRef>();
    for (const ref of refs) {
      const address = stateAddress(ref);
      if (this.#read.has(address)) continue;
      const found: (Uint8Array | undefined)[] = [];
      const known = usable && this.#states.cache.read(this.#namespace, ref.scope, [ref.id], found).length === 0;
      if (known) this.#read.set(address, found[0]);
      else missing.set(address, ref);
    }
    return missing;
  }

  #isCached(): boolean {
    return isSameMoment(this.#states.moment(this.#namespace), this.#moment);
  }
}

/** The reduction at its next request for states, or nothing when it has ended. */
function advanced(
  reduction: Reduction,
  next: () => IteratorResult<readonly StateRef[], unknown>,
): readonly WaitingReduction[] {
  const step = attempt(next);
  return "error" in step || step.done ? [] : [{ reduction, wanted: step.value }];
}

/** Returns the result of a step, or its error: the error of a reduction rejects its own call only. */
export function attempt<Step>(step: () => Step): Step | { readonly error: unknown } {
  try {
    return step();
  } catch (error) {
    return { error };
  }
}
