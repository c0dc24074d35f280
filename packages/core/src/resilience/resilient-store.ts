import { QavrError } from "../errors/qavr-error.js";
import type { StateSource, Store } from "../store/store.js";
import type { CircuitBreakers } from "./circuit-breaker.js";
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
  const { name, capabilities, places } = store;
  return {
    name,
    capabilities,
    places,
    ...methodsOf(store, BOUNDED, within(name, options)),
    ...methodsOf(store, [...UNBOUNDED, "changesSince"], (call) => call()),
  } as Store;
}

/** The methods of a store that answer with a promise. */
export const BOUNDED = [
  "commit",
  "readStates",
  "scanStates",
  "readEntries",
  "findKey",
  "head",
  "namespaces",
  "refresh",
  "close",
] as (keyof Store)[];
export const UNBOUNDED = ["atHead", "eraseNamespace", "readCheckpoint", "verify", "repair"] as (keyof Store)[];

/** The methods that a store has, each called through `around`. By name: neither a spread nor a prototype copies a class instance. */
function methodsOf(
  store: Store,
  methods: readonly (keyof Store)[],
  around: (call: () => Promise<unknown>) => unknown,
): Partial<Store> {
  return Object.fromEntries(
    methods.flatMap((method) => {
      const offered = store[method] as ((...given: unknown[]) => Promise<unknown>) | undefined;
      return offered ? [[method, (...given: unknown[]) => around(() => Reflect.apply(offered, store, given))]] : [];
    }),
  );
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

export interface CircuitBreakerOptions extends TimeoutOptions {
  readonly breakers: CircuitBreakers;
  readonly now: () => number;
  /** Called when the circuit opens, and when it closes again. */
  readonly onChange: (isOpen: boolean, cause?: QavrError) => void;
}

/**
 * The store for ranking: a short timeout, and no call to a store that keeps failing. A reader whose states are current ranks by them
 * without a call.
 */
export function withCircuitBreaker(store: Store, options: CircuitBreakerOptions): StateSource {
  const { timeout, setTimer, breakers, now, onChange } = options;
  const guarded = async <Result>(namespace: string, ask: () => Promise<Result>): Promise<Result> => {
    const breaker = breakers.of(namespace);
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
    ...methodsOf(store, ["changesSince"], (call) => call()),
    ...(store.refresh ? { refresh: (...given) => guarded(given[0], async () => store.refresh?.(...given)) } : {}),
    readStates: (...given) => guarded(given[0], () => store.readStates(...given)),
  };
}

function timedOut(store: string, timeout: number): QavrError {
  return new QavrError(
    "STORE_TIMEOUT",
    `The ${store} store did not answer within ${timeout} ms. A repeated call counts once.`,
    { details: { store, timeout } },
  );
}

function circuitOpen(store: string): QavrError {
  return new QavrError("STORE_CIRCUIT_OPEN", `The ${store} store keeps failing: it is asked again every few seconds.`, {
    details: { store },
  });
}
