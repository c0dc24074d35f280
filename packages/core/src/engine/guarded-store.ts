import { QavrError } from "../errors/qavr-error.js";
import type { Store } from "../store/store.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import { type SetTimer, withDeadline } from "./deadline.js";
import type { StateSource } from "./state-reader.js";
import { asStoreError, isOutOfReach } from "./store-failure.js";

export interface PatientStoreOptions {
  /** How long each call may take, ms. */
  readonly deadline: number;
  readonly setTimer: SetTimer;
}

/**
 * The store for everything but ranking: each call answers or fails within the deadline, so that a store which never answers cannot
 * keep an episode closing for ever. A commit that was given up may take effect all the same; sent again, it is a duplicate. Work on
 * a whole namespace (replacing, erasing, checking) takes as long as it takes.
 *
 * @throws STORE_TIMEOUT, and the store's own failures with a code
 */
export function patientStore(store: Store, { deadline, setTimer }: PatientStoreOptions): Store {
  const late = (): QavrError => timeout(store.name, deadline);
  const bounded = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      return await withDeadline(call(), deadline, setTimer, late);
    } catch (error) {
      throw asStoreError(error, store.name);
    }
  };
  // Method by method: a store may be an instance of a class, which neither a spread nor a prototype would carry over.
  return {
    name: store.name,
    capabilities: store.capabilities,
    commit: (...given) => bounded(() => store.commit(...given)),
    readStates: (...given) => bounded(() => store.readStates(...given)),
    scanStates: (...given) => bounded(() => store.scanStates(...given)),
    readEntries: (...given) => bounded(() => store.readEntries(...given)),
    head: (...given) => bounded(() => store.head(...given)),
    namespaces: (...given) => bounded(() => store.namespaces(...given)),
    replaceStates: (...given) => store.replaceStates(...given),
    eraseNamespace: (...given) => store.eraseNamespace(...given),
    close: () => bounded(() => store.close()),
    ...optional(store),
  };
}

/** What a store may offer beyond the contract, as far as this one does. */
function optional(store: Store): Partial<Store> {
  const methods = ["changesSince", "compact", "readCheckpoint", "verify", "repair"] as const;
  return Object.fromEntries(
    methods.flatMap((method) => {
      const offered = store[method];
      return offered ? [[method, (...given: never[]) => Reflect.apply(offered, store, given)]] : [];
    }),
  );
}

export interface ImpatientReadsOptions extends PatientStoreOptions {
  readonly breaker: CircuitBreaker;
  readonly now: () => number;
  /** Told when the store is left alone from here on, and when it has answered again. */
  readonly onChange: (suspended: boolean, cause?: QavrError) => void;
}

/**
 * What ranking reads: a short deadline, and no call at all to a store that keeps failing. What is known without asking stays known:
 * a reader whose states are current still ranks by them.
 */
export function impatientReads(store: Store, options: ImpatientReadsOptions): StateSource {
  const { deadline, setTimer, breaker, now, onChange } = options;
  const { changesSince } = optional(store);
  return {
    ...(changesSince ? { changesSince } : {}),
    async readStates(namespace, scope, ids) {
      if (!breaker.admits(now())) throw suspended(store.name);
      try {
        const reading = store.readStates(namespace, scope, ids);
        const states = await withDeadline(reading, deadline, setTimer, () => timeout(store.name, deadline));
        if (breaker.succeeded()) onChange(false);
        return states;
      } catch (error) {
        const failure = asStoreError(error, store.name);
        if (!isOutOfReach(failure)) {
          if (breaker.succeeded()) onChange(false);
        } else if (breaker.failed(now())) onChange(true, failure);
        throw failure;
      }
    },
  };
}

function timeout(store: string, deadline: number): QavrError {
  return new QavrError(
    "STORE_TIMEOUT",
    `The ${store} store did not answer within ${deadline} ms. Check that it is reachable; a call that is repeated counts once.`,
    { details: { store, deadline } },
  );
}

function suspended(store: string): QavrError {
  return new QavrError(
    "STORE_SUSPENDED",
    `The ${store} store has failed several times in a row and is left alone for a few seconds. It will be asked again by itself.`,
    { details: { store } },
  );
}
