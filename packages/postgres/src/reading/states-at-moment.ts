import { type LedgerEntry, type Reduce, type Reduction, type StateRef, stateAddress } from "@qavr/core";
import { attempt } from "../connection/attempt.js";
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

/** Reductions look at an episode, and then at what it showed. */
const ROUNDS_AHEAD = 3;

/** States of a namespace at one moment, for reducing entries on them. Through the cache as long as that is of the same one. */
export class StatesAtMoment {
  readonly #connection: Connection;
  readonly #namespace: string;
  readonly #moment: Moment;
  readonly #sql: LedgerSql;
  readonly #states: KnownStates;
  /** By address, as read so far. */
  readonly #read = new Map<string, Uint8Array | undefined>();

  constructor(connection: Connection, namespace: string, moment: Moment, sql: LedgerSql, states: KnownStates) {
    this.#connection = connection;
    this.#namespace = namespace;
    this.#moment = moment;
    this.#sql = sql;
    this.#states = states;
  }

  /** In the order of the refs; undefined when the namespace is at another moment by now. */
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
   * Reads ahead for several entries: lets them be reduced side by side on the states as they are, and throws away what comes of
   * it. Each round of all of them is one round trip then, and not one per entry. What an entry asks for may depend on the entries
   * before it; then it is read when it is asked for.
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

  /** Takes over what the cache has, and returns the rest by address. */
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

/** The reduction at its next wish, or nothing when it is over. */
function advanced(
  reduction: Reduction,
  next: () => IteratorResult<readonly StateRef[], unknown>,
): readonly WaitingReduction[] {
  const step = attempt(next);
  return "error" in step || step.done ? [] : [{ reduction, wanted: step.value }];
}
