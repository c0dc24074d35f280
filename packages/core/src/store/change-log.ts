import type { StateChanges, StateRef } from "./store.js";

/** Writes kept per namespace; a reader further behind reads everything again. */
const CAPACITY = 4_096;
/** Writes kept in total, a namespace counting as one more. The namespaces written to longest ago are forgotten first. */
const TOTAL_CAPACITY = 131_072;

interface Log {
  readonly refs: StateRef[];
  /** Cursor before the first of them. */
  first: number;
}

/** The latest state writes of each namespace, so that a reader reads only these again. Bounded. */
export class ChangeLog {
  /** Least recently written first. */
  readonly #logs = new Map<string, Log>();
  /** Cursor of a namespace without a log: above every cursor of a forgotten log. */
  #floor = 1;
  #total = 0;

  /** Adds durable writes, in order. */
  add(namespace: string, refs: readonly StateRef[]): void {
    const known = this.#logs.get(namespace);
    const log = known ?? { refs: [], first: this.#floor };
    if (known) this.#logs.delete(namespace);
    else this.#total += 1;
    this.#logs.set(namespace, log);
    for (const { scope, id } of refs) log.refs.push({ scope, id });
    this.#total += refs.length;
    if (log.refs.length > 2 * CAPACITY) {
      const dropped = log.refs.length - CAPACITY;
      log.refs.splice(0, dropped);
      log.first += dropped;
      this.#total -= dropped;
    }
    this.#dropOldest();
  }

  since(namespace: string, cursor: number): StateChanges {
    const log = this.#logs.get(namespace);
    const first = log?.first ?? this.#floor;
    const end = first + (log?.refs.length ?? 0);
    if (cursor < first || cursor > end) return { cursor: end, written: undefined };
    return { cursor: end, written: cursor === end ? NONE : log?.refs.slice(cursor - first) };
  }

  /** Invalidates every cursor of a namespace, or of all of them: anything may have changed. */
  forget(namespace?: string): void {
    if (namespace === undefined) {
      for (const [name, log] of this.#logs) this.#drop(name, log);
      this.#floor += 1;
      return;
    }
    const log = this.#logs.get(namespace);
    const end = log ? log.first + log.refs.length : this.#floor;
    if (log) this.#total -= log.refs.length + 1;
    this.#logs.delete(namespace);
    this.#logs.set(namespace, { refs: [], first: end + 1 });
    this.#total += 1;
    this.#dropOldest();
  }

  #dropOldest(): void {
    for (const [name, oldest] of this.#logs) {
      if (this.#total <= TOTAL_CAPACITY) return;
      this.#drop(name, oldest);
    }
  }

  #drop(namespace: string, log: Log): void {
    this.#logs.delete(namespace);
    this.#total -= log.refs.length + 1;
    this.#floor = Math.max(this.#floor, log.first + log.refs.length + 1);
  }
}

const NONE: readonly StateRef[] = [];
