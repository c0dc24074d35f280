import { QavrError } from "../errors/qavr-error.js";
import type { Store } from "../store/store.js";

/**
 * A store that is opened by its first use, so that creating a memory touches no file and imports no driver. A failed opening
 * is tried again by the next call.
 *
 * @param identity What is known before the store is open.
 */
export function lazyStore(identity: Pick<Store, "name" | "capabilities">, open: () => Promise<Store>): Store {
  let opening: Promise<Store> | undefined;
  let store: Store | undefined;
  let closed = false;
  const opened = (): Promise<Store> => {
    if (closed) {
      const message = `The ${identity.name} store was closed before this call. Create a new memory.`;
      return Promise.reject(new QavrError("STORE_CLOSED", message));
    }
    opening ??= open().then(
      (ready) => {
        store = ready;
        return ready;
      },
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  return {
    ...identity,
    // A store that is not open yet, or keeps no log of changes: everything may have changed since any cursor.
    changesSince: (namespace, cursor) => store?.changesSince?.(namespace, cursor) ?? { cursor: 0, written: undefined },
    refresh: async (...args) => (await opened()).refresh?.(...args),
    commit: async (...args) => (await opened()).commit(...args),
    readStates: async (...args) => (await opened()).readStates(...args),
    scanStates: async (...args) => (await opened()).scanStates(...args),
    readEntries: async (...args) => (await opened()).readEntries(...args),
    head: async (...args) => (await opened()).head(...args),
    namespaces: async (...args) => (await opened()).namespaces(...args),
    replaceStates: async (...args) => (await opened()).replaceStates(...args),
    eraseNamespace: async (...args) => (await opened()).eraseNamespace(...args),
    async close() {
      if (closed) return;
      closed = true;
      // A store that nothing used is not opened in order to be closed.
      await (await opening)?.close();
    },
  };
}
