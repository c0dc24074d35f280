import { memoryStore, QavrError, type Reduce, type Reduction, type StateWrite, type Store } from "@qavr/core";
import type { StoreBackend } from "../../src/index.js";

/** A store with one fault that somebody has made, or could make, in a real one. */
export interface Mutant {
  /** Completes "a store that …". */
  readonly fault: string;
  /** The topic of the suite that exists to catch it. */
  readonly caughtBy: string;
  createBackend(): StoreBackend;
}

/** A mutant of the memory store: everything as it is, except what `alter` returns. */
export function mutant(fault: string, caughtBy: string, alter: (store: Store) => Partial<Store>): Mutant {
  return {
    fault,
    caughtBy,
    createBackend: () => ({
      open() {
        const store = memoryStore();
        return { ...store, ...alter(store) };
      },
    }),
  };
}

/**
 * A backend that outlives its handles and serves several at once, as a database does: what mutants of durability and sharing
 * are made from. Honest as it stands.
 */
export function sharedMemoryBackend(
  alter: (handle: Store, backend: Store) => Partial<Store> = () => ({}),
): StoreBackend {
  const backend = memoryStore();
  return {
    open() {
      let closed = false;
      const guard =
        <Arguments extends readonly unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
        async (...given: Arguments): Promise<Result> => {
          if (closed) throw new QavrError("STORE_CLOSED", "The handle was closed before this call.");
          return call(...given);
        };
      const handle: Store = {
        name: "shared memory",
        capabilities: { durable: true, sharedBackend: true },
        commit: guard(backend.commit),
        readStates: guard(backend.readStates),
        scanStates: guard(backend.scanStates),
        readEntries: guard(backend.readEntries),
        head: guard(backend.head),
        namespaces: guard(backend.namespaces),
        replaceStates: guard(backend.replaceStates),
        eraseNamespace: guard(backend.eraseNamespace),
        compact: guard(backend.compact as NonNullable<Store["compact"]>),
        readCheckpoint: guard(backend.readCheckpoint as NonNullable<Store["readCheckpoint"]>),
        changesSince: (namespace, cursor) =>
          backend.changesSince?.(namespace, cursor) ?? { cursor, written: undefined },
        async close() {
          closed = true;
        },
      };
      return { ...handle, ...alter(handle, backend) };
    },
  };
}

/** The reduction with what it writes passed through `change`. */
export function withWrites(reduce: Reduce, change: (writes: readonly StateWrite[]) => readonly StateWrite[]): Reduce {
  return function* (entry): Reduction {
    return change(yield* reduce(entry));
  };
}

/** Address of a state, for the mutants' own maps. */
export const address = (scope: string, id: string): string => JSON.stringify([scope, id]);
