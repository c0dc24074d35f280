import type { Store } from "../store/store.js";

/** Failures in a row after which a store is left alone. */
const MAX_FAILURES = 5;
/** How long it is left alone at first, ms; doubles with every probe that fails … */
const FIRST_PAUSE = 250;
/** … up to this: a store that is back is noticed by the next call after at most so long. */
const LONGEST_PAUSE = 4_000;

/**
 * Decides whether a store is worth asking. After five failures in a row it is left alone; after a pause, one call at a time may try
 * whether it is back. Knows no time of its own and leaves nothing running.
 */
export class CircuitBreaker {
  #failures = 0;
  #pause = FIRST_PAUSE;
  /** Start of the pause, undefined while the store is trusted. */
  #since: number | undefined;
  #probing = false;

  /** True while calls are refused without asking the store. */
  get isOpen(): boolean {
    return this.#since !== undefined;
  }

  /**
   * True when the store may be asked now; an admitted caller must report how it went. A clock that was set back ends the pause: it must not
   * make it longer.
   *
   * @param now Unix ms
   */
  admits(now: number): boolean {
    if (this.#since === undefined) return true;
    const elapsed = now - this.#since;
    if (this.#probing || (elapsed >= 0 && elapsed < this.#pause)) return false;
    this.#probing = true;
    return true;
  }

  /** The store has answered, perhaps with a refusal. True when it had been left alone. */
  succeeded(): boolean {
    const wasOpen = this.isOpen;
    this.#failures = 0;
    this.#pause = FIRST_PAUSE;
    this.#since = undefined;
    this.#probing = false;
    return wasOpen;
  }

  /** The store has not answered, or only with a failure of its own. True when it is left alone from here on. */
  failed(now: number): boolean {
    if (this.#since === undefined) {
      this.#failures += 1;
      if (this.#failures < MAX_FAILURES) return false;
      this.#since = now;
      return true;
    }
    // Calls that were under way when the pause began say nothing new.
    if (!this.#probing) return false;
    this.#probing = false;
    this.#since = now;
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    return false;
  }
}

/** One breaker for each store behind a store, so that one that fails does not keep the others from being asked. */
export interface CircuitBreakers {
  of(namespace: string): CircuitBreaker;
  /** True while one of them refuses calls. */
  isOpen(): boolean;
}

export function circuitBreakers({ places }: Pick<Store, "places">): CircuitBreakers {
  const breakers: Record<string, CircuitBreaker> = {};
  return {
    of: (namespace) => (breakers[places?.lastPlace(namespace) ?? ""] ??= new CircuitBreaker()),
    isOpen: () => Object.values(breakers).some((breaker) => breaker.isOpen),
  };
}
