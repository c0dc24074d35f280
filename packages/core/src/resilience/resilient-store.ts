import { QavrError } from "../errors/qavr-error.js";
import type { StateSource, Store } from "../store/store.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import { asStoreError, isOutOfReach } from "./store-failure.js";
import { type TimeoutOptions, withTimeout } from "./timeout.js";

/**
 * The store for everything but ranking. Each call answers or fails within the timeout: a store that never answers must not keep an
 * episode closing for ever. A commit that timed out may still take effect; sent again, it is a duplicate. Work on a whole namespace
 * (replacing, erasing, checking) has no timeout.
 *
 * @throws STORE_TIMEOUT, and the store's own failures with a code
 */
export function withTimeouts(store: Store, options: TimeoutOptions): Store {
  const bounded = within(store.name, options);
  // Method by method: neither a spread nor a prototype copies an instance of a class.
  return {
    name: store.name,
    capabilities: store.capabilities,
    commit: (...given) => bounded(() => store.commit(...given)),
    readStates: (...given) => bounded(() => store.readStates(...given)),
    scanStates: (...given) => bounded(() => store.scanStates(...given)),
    readEntries: (...given) => bounded(() => store.readEntries(...given)),
    findKey: (...given) => bounded(() => store.findKey(...given)),
    head: (...given) => bounded(() => store.head(...given)),
    namespaces: (...given) => bounded(() => store.namespaces(...given)),
    replaceStates: (...given) => store.replaceStates(...given),
    atHead: (...given) => store.atHead(...given),
    eraseNamespace: (...given) => store.eraseNamespace(...given),
    close: () => bounded(() => store.close()),
    ...(store.refresh ? { refresh: (...given) => bounded(async () => store.refresh?.(...given)) } : {}),
    ...optional(store),
  };
}

/** Returns a function that waits for calls no longer than the timeout, and gives every failure a code. */
export function within(
  name: string,
  { timeout, setTimer }: TimeoutOptions,
): <Result>(call: () => Promise<Result>) => Promise<Result> {
  return async (call) => {
    try {
      return await withTimeout(call(), timeout, setTimer, () => timedOut(name, timeout));
    } catch (error) {
      throw asStoreError(error, name);
    }
  };
}

/** The optional methods that this store has and that need no timeout. */
function optional(store: Store): Partial<Store> {
  const methods = ["changesSince", "compact", "readCheckpoint", "verify", "repair"] as const;
  return Object.fromEntries(
    methods.flatMap((method) => {
      const offered = store[method];
      return offered ? [[method, (...given: never[]) => Reflect.apply(offered, store, given)]] : [];
    }),
  );
}

export interface CircuitBreakerOptions extends TimeoutOptions {
  readonly breaker: CircuitBreaker;
  readonly now: () => number;
  /** Called when the circuit opens, and when it closes again. */
  readonly onChange: (isOpen: boolean, cause?: QavrError) => void;
}

/**
 * The store for ranking: a short timeout, and no call to a store that keeps failing. A reader whose states are current ranks by them
 * without a call.
 */
export function withCircuitBreaker(store: Store, options: CircuitBreakerOptions): StateSource {
  const { timeout, setTimer, breaker, now, onChange } = options;
  const { changesSince } = optional(store);
  const guarded = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    if (!breaker.admits(now())) throw circuitOpen(store.name);
    try {
      const answer = await withTimeout(ask(), timeout, setTimer, () => timedOut(store.name, timeout));
      if (breaker.succeeded()) onChange(false);
      return answer;
    } catch (error) {
      const failure = asStoreError(error, store.name);
      if (!isOutOfReach(failure)) {
        if (breaker.succeeded()) onChange(false);
      } else if (breaker.failed(now())) onChange(true, failure);
      throw failure;
    }
  };
  return {
    ...(changesSince ? { changesSince } : {}),
    ...(store.refresh ? { refresh: (...given) => guarded(async () => store.refresh?.(...given)) } : {}),
    readStates: (...given) => guarded(() => store.readStates(...given)),
  };
}

function timedOut(store: string, timeout: number): QavrError {
  return new QavrError(
    "STORE_TIMEOUT",
    `The ${store} store did not answer within ${timeout} ms. Check that it is reachable; a call that is repeated counts once.`,
    { details: { store, timeout } },
  );
}

function circuitOpen(store: string): QavrError {
  return new QavrError(
    "STORE_CIRCUIT_OPEN",
    `The ${store} store has failed several times in a row and is left alone for a few seconds. It will be asked again by itself.`,
    { details: { store } },
  );
}
