import { QavrError } from "../errors/qavr-error.js";
import type { Spool } from "../store/spool.js";
import type { Store } from "../store/store.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import { type SetTimer, withDeadline } from "./deadline.js";
import type { StateSource } from "./state-reader.js";
import { asStoreError, isOutOfReach } from "./store-failure.js";

export interface PatientOptions {
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
export function patientStore(store: Store, options: PatientOptions): Store {
  const bounded = within(store.name, options);
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
    ...(store.refresh ? { refresh: (...given) => bounded(async () => store.refresh?.(...given)) } : {}),
    ...optional(store),
  };
}

/** A spool whose calls answer or fail within the deadline, as those of {@link patientStore} do. A commit that is kept twice counts once. */
export function patientSpool(spool: Spool, options: PatientOptions): Spool {
  const bounded = within(spool.name, options);
  return {
    name: spool.name,
    append: (...given) => bounded(() => spool.append(...given)),
    read: (...given) => bounded(() => spool.read(...given)),
    remove: (...given) => bounded(() => spool.remove(...given)),
    size: () => bounded(() => spool.size()),
    close: () => bounded(() => spool.close()),
  };
}

/** Waits for calls no longer than the deadline, and gives every failure a code. */
function within(
  name: string,
  { deadline, setTimer }: PatientOptions,
): <Result>(call: () => Promise<Result>) => Promise<Result> {
  return async (call) => {
    try {
      return await withDeadline(call(), deadline, setTimer, () => timeout(name, deadline));
    } catch (error) {
      throw asStoreError(error, name);
    }
  };
}

/** What a store may offer beyond the contract and answers at once or at its own pace, as far as this one does. */
function optional(store: Store): Partial<Store> {
  const methods = ["changesSince", "compact", "readCheckpoint", "verify", "repair"] as const;
  return Object.fromEntries(
    methods.flatMap((method) => {
      const offered = store[method];
      return offered ? [[method, (...given: never[]) => Reflect.apply(offered, store, given)]] : [];
    }),
  );
}

export interface ImpatientReadsOptions extends PatientOptions {
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
  const guarded = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    if (!breaker.admits(now())) throw suspended(store.name);
    try {
      const answer = await withDeadline(ask(), deadline, setTimer, () => timeout(store.name, deadline));
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
