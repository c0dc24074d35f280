import type { Store } from "@qavr/core";
import { ChangeLog, type ScannedState, type StateChanges, type StateWrite } from "@qavr/core/store";
import { address, changesOf, type Mutant, mutant, sharedMemoryBackend, withWrites } from "./mutant.js";

/** Maps every name that a call is given: what a careless column type, collation or pattern match does. */
const renaming =
  (rename: (name: string) => string) =>
  (store: Store): Partial<Store> => ({
    commit: (namespace, entries, reduce) => store.commit(rename(namespace), entries, reduce),
    readStates: (namespace, scope, ids) => store.readStates(rename(namespace), scope, ids),
    scanStates: (namespace, scope, options) => store.scanStates(rename(namespace), scope, options),
    readEntries: (namespace, options) => store.readEntries(rename(namespace), options),
    head: (namespace) => store.head(rename(namespace)),
    eraseNamespace: (namespace) => store.eraseNamespace(rename(namespace)),
  });

/** Answers reads from a cache that `commit` does not clear. */
const withStaleCache = (store: Store): Partial<Store> => {
  const cache = new Map<string, Uint8Array | undefined>();
  return {
    async readStates(namespace, scope, ids) {
      const fresh = await store.readStates(namespace, scope, ids);
      return ids.map((id, place) => {
        const key = `${namespace} ${address(scope, id)}`;
        if (!cache.has(key)) cache.set(key, fresh[place]);
        return cache.get(key);
      });
    },
  };
};

/** Faults of reading, naming, reopening and sharing. */
export const readMutants: readonly Mutant[] = [
  mutant("writes at the head without being asked to", "work at the head", (store) => ({
    atHead: (namespace, given) => store.atHead(namespace, { ...given, write: true }),
  })),

  mutant("takes on any number of entries at the head", "work at the head", (store) => ({
    atHead: (namespace, given) => store.atHead(namespace, { ...given, limit: 10_000 }),
  })),

  mutant("finds no key after its commit", "asking again", () => ({ findKey: async () => undefined })),

  mutant("finds every payload under a taken key", "idempotency", (store) => ({
    async findKey(namespace, key) {
      const found = await store.findKey(namespace, key);
      return found && { seq: found.seq, hasPayload: () => true };
    },
  })),

  mutant("answers from a cache that its own commits do not clear", "reads", withStaleCache),

  mutant("keeps what an earlier refresh knew from its own commits", "reads", (store) => {
    const stale = withStaleCache(store);
    return {
      readStates: (namespace, scope, ids, options) =>
        (options?.refreshed ? (stale.readStates ?? store.readStates) : store.readStates)(namespace, scope, ids),
    };
  }),

  mutant("returns states in the order of their ids", "reads", (store) => ({
    async readStates(namespace, scope, ids) {
      return store.readStates(namespace, scope, [...ids].sort());
    },
  })),

  mutant("returns a missing state as no bytes", "reads", (store) => ({
    readStates: async (namespace, scope, ids) =>
      (await store.readStates(namespace, scope, ids)).map((value) => value ?? new Uint8Array()),
  })),

  mutant("returns entries in no particular order", "reads", (store) => ({
    readEntries: async (namespace, options) => [...(await store.readEntries(namespace, options))].reverse(),
  })),

  mutant("repeats the last entry of a page on the next one", "reads", (store) => ({
    readEntries: (namespace, { after = 0, limit }) =>
      store.readEntries(namespace, { after: Math.max(0, after - 1), limit }),
  })),

  mutant("skips a state between two pages of a scan", "reads", (store) => ({
    async scanStates(namespace, scope, options) {
      const states = await store.scanStates(namespace, scope, options);
      return options.after === undefined ? states : states.slice(1);
    },
  })),

  mutant("overwrites the array of a state in place", "reads", (store) => {
    const returned = new Map<string, Uint8Array>();
    const reuse = (key: string, value: Uint8Array): Uint8Array => {
      const known = returned.get(key);
      if (known?.length !== value.length) {
        returned.set(key, Uint8Array.from(value));
        return returned.get(key) as Uint8Array;
      }
      known.set(value);
      return known;
    };
    return {
      readStates: async (namespace, scope, ids) =>
        (await store.readStates(namespace, scope, ids)).map((value, place) =>
          value ? reuse(`${namespace} ${address(scope, ids[place] as string)}`, value) : undefined,
        ),
    };
  }),

  mutant("does not say that states were removed", "changesSince", (store) => {
    const removed = new Set<string>();
    return {
      commit: (namespace, entries, reduce) =>
        store.commit(
          namespace,
          entries,
          withWrites(reduce, (writes) => {
            for (const { scope, id, value } of writes) {
              if (value === null) removed.add(address(scope, id));
              else removed.delete(address(scope, id));
            }
            return writes;
          }),
        ),
      changesSince(namespace, cursor) {
        const changes = changesOf(store, namespace, cursor);
        const written = changes.written?.filter(({ scope, id }) => !removed.has(address(scope, id)));
        return { ...changes, written };
      },
    };
  }),

  mutant("names the states of a commit one question late", "changesSince", (store) => {
    let late: StateChanges["written"] = [];
    return {
      changesSince(namespace, cursor) {
        const { cursor: end, written } = changesOf(store, namespace, cursor);
        const told = late;
        late = written;
        return { cursor: end, written: told };
      },
    };
  }),

  mutant("does not say that work at the head wrote states", "changesSince", (store) => {
    let wrote = false;
    return {
      atHead(namespace, given) {
        wrote = true;
        return store.atHead(namespace, given);
      },
      changesSince(namespace, cursor) {
        const changes = changesOf(store, namespace, cursor);
        if (!wrote) return changes;
        wrote = false;
        return { ...changes, written: [] };
      },
    };
  }),

  mutant("keeps payloads as text", "commit", (store) => ({
    readEntries: async (namespace, options) =>
      (await store.readEntries(namespace, options)).map((entry) => ({
        ...entry,
        payload: new TextEncoder().encode(new TextDecoder().decode(entry.payload)),
      })),
  })),

  mutant("keeps times as whole milliseconds", "commit", (store) => ({
    readEntries: async (namespace, options) =>
      (await store.readEntries(namespace, options)).map((entry) => ({ ...entry, at: Math.trunc(entry.at) })),
  })),

  mutant(
    "cuts names at a NUL",
    "names",
    renaming((name) => name.split("\0")[0] || "\0"),
  ),
  mutant(
    "ignores case",
    "names",
    renaming((name) => name.toLowerCase()),
  ),
  mutant(
    "normalises names",
    "names",
    renaming((name) => name.normalize("NFC")),
  ),
  mutant(
    "ignores spaces at the end of a name",
    "names",
    renaming((name) => name.trimEnd() || name),
  ),
  mutant(
    "cuts names at 500 units",
    "names",
    renaming((name) => name.slice(0, 500)),
  ),

  mutant("finds the states of namespaces that begin alike", "names", (store) => {
    const find = async (namespace: string, scope: string, ids: readonly string[]) => {
      const known = await store.namespaces({ limit: 10_000 });
      const alike = known.filter((name) => name.startsWith(namespace)).sort((a, b) => b.length - a.length);
      for (const name of alike) {
        const found = await store.readStates(name, scope, ids);
        if (found.some((value) => value !== undefined)) return found;
      }
      return store.readStates(namespace, scope, ids);
    };
    return { readStates: find };
  }),

  mutant("confuses scope and id where they are joined", "names", (store) => {
    const join = (scope: string, id: string): string => `${scope}:${id}`.slice(0, 512);
    return {
      commit: (namespace, entries, reduce) =>
        store.commit(namespace, entries, function* (entry) {
          const reduction = reduce(entry);
          let step = reduction.next();
          while (!step.done) {
            step = reduction.next(yield step.value.map(({ scope, id }) => ({ scope: "all", id: join(scope, id) })));
          }
          return step.value.map(({ scope, id, value }) => ({ scope: "all", id: join(scope, id), value }));
        }),
      readStates: (namespace, scope, ids) =>
        store.readStates(
          namespace,
          "all",
          ids.map((id) => join(scope, id)),
        ),
      async scanStates(namespace, scope, { after, limit }) {
        const states: ScannedState[] = [];
        for (const { id, value } of await store.scanStates(namespace, "all", { limit: 10_000 })) {
          if (id.startsWith(`${scope}:`)) states.push({ id: id.slice(scope.length + 1), value });
        }
        return states.filter(({ id }) => after === undefined || id > after).slice(0, limit);
      },
    };
  }),

  mutant("skips a namespace when it lists them page by page", "reads", (store) => ({
    namespaces: async (options) => {
      const names = await store.namespaces(options);
      return options.after === undefined ? names : names.slice(1);
    },
  })),

  {
    fault: "forgets everything when it is closed",
    caughtBy: "reopening",
    createBackend: () =>
      sharedMemoryBackend((handle, backend) => ({
        async close() {
          for (const name of await backend.namespaces({ limit: 10_000 })) await backend.eraseNamespace(name);
          await handle.close();
        },
      })),
  },
  {
    fault: "forgets its idempotency keys when it is closed",
    caughtBy: "reopening",
    createBackend: () => {
      let generation = 0;
      return sharedMemoryBackend((handle, backend) => {
        const mine = generation++;
        const mark = `~${mine}`;
        return {
          commit: (namespace, entries, reduce) =>
            handle.commit(
              namespace,
              entries.map((entry) => ({ ...entry, key: `${entry.key}${mark}` })),
              reduce,
            ),
          readEntries: async (namespace, options) =>
            (await backend.readEntries(namespace, options)).map((entry) => ({
              ...entry,
              key: entry.key.replace(/~\d+$/, ""),
            })),
        };
      });
    },
  },
  {
    fault: "answers one handle from a cache that the other does not clear",
    caughtBy: "two handles on one backend",
    createBackend: () => sharedMemoryBackend((handle) => withStaleCache(handle)),
  },
  {
    fault: "tells a reader only about the changes of its own handle",
    caughtBy: "two handles on one backend",
    createBackend: () =>
      sharedMemoryBackend((handle, backend) => {
        const own = new ChangeLog();
        return {
          async commit(namespace, entries, reduce) {
            const written: StateWrite[] = [];
            const receipts = await handle.commit(
              namespace,
              entries,
              withWrites(reduce, (writes) => {
                written.push(...writes);
                return writes;
              }),
            );
            own.add(namespace, written);
            return receipts;
          },
          async atHead(namespace, given) {
            const done = await backend.atHead(namespace, given);
            own.forget(namespace);
            return done;
          },
          async eraseNamespace(namespace) {
            await backend.eraseNamespace(namespace);
            own.forget(namespace);
          },
          changesSince: (namespace, cursor) => own.since(namespace, cursor),
        };
      }),
  },
  {
    fault: "takes a lost history for the current one where both have as many entries",
    caughtBy: "a backend that goes back",
    createBackend: () =>
      sharedMemoryBackend((handle) => {
        const known = new Map<string, readonly (Uint8Array | undefined)[]>();
        return {
          async readStates(namespace, scope, ids) {
            const asked = JSON.stringify([namespace, await handle.head(namespace), scope, ids]);
            const values = known.get(asked) ?? (await handle.readStates(namespace, scope, ids));
            known.set(asked, values);
            return values;
          },
        };
      }),
  },
  {
    fault: "numbers entries per handle",
    caughtBy: "two handles on one backend",
    createBackend: () =>
      sharedMemoryBackend((handle) => {
        let own = 0;
        return {
          commit: async (namespace, entries, reduce) =>
            (await handle.commit(namespace, entries, reduce)).map(({ status, seq }) => ({
              status,
              seq: status === "committed" ? ++own : seq,
            })),
        };
      }),
  },
];
