import { createHash } from "node:crypto";
import { memoryStore, QavrError, type Store } from "@qavr/core";
import {
  DamageReport,
  type EntryColumns,
  type HeadWork,
  ledgerDigests,
  nameToBytes,
  type Reduce,
  type Reduction,
  type Revision,
  type StateChanges,
  type StateWrite,
} from "@qavr/core/store";
import type { StoreBackend } from "../../src/index.js";

/** A store with one plausible fault. */
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
 * A backend that outlives its handles and serves several at once, as a database does, and can go back under them: what mutants of
 * durability and sharing are made from. Honest as it stands.
 */
export function sharedMemoryBackend(
  alter: (handle: Store, backend: Store) => Partial<Store> = () => ({}),
): StoreBackend {
  let current = memoryStore();
  let wentBack = 0;
  const writes: (() => Promise<unknown>)[] = [];
  const noting =
    <Arguments extends readonly unknown[], Result>(
      method: (store: Store) => (...given: Arguments) => Promise<Result>,
    ) =>
    (...given: Arguments): Promise<Result> => {
      const write = (): Promise<Result> => method(current)(...given);
      writes.push(write);
      return write();
    };
  const backend: Store = {
    ...current,
    commit: noting((store) => store.commit),
    atHead: noting((store) => store.atHead),
    eraseNamespace: noting((store) => store.eraseNamespace),
    readStates: (...given) => current.readStates(...given),
    scanStates: (...given) => current.scanStates(...given),
    readEntries: (...given) => current.readEntries(...given),
    findKey: (namespace, key) => current.findKey(namespace, key),
    head: (namespace) => current.head(namespace),
    namespaces: (options) => current.namespaces(options),
    readCheckpoint: async (namespace) => current.readCheckpoint?.(namespace),
    // Cursors of the store before are too old for the one that it went back to.
    changesSince(namespace, cursor) {
      const offset = wentBack * CURSORS;
      const { cursor: end, written } = changesOf(current, namespace, cursor - offset);
      return { cursor: end + offset, written };
    },
  };
  return {
    async remember() {
      const { length } = writes;
      return async () => {
        wentBack += 1;
        writes.length = length;
        current = memoryStore();
        for (const write of writes) await write().catch(() => {});
      };
    },
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
        findKey: guard(backend.findKey),
        head: guard(backend.head),
        namespaces: guard(backend.namespaces),
        atHead: guard(backend.atHead),
        eraseNamespace: guard(backend.eraseNamespace),
        readCheckpoint: guard(backend.readCheckpoint as NonNullable<Store["readCheckpoint"]>),
        changesSince: (namespace, cursor) => changesOf(backend, namespace, cursor),
        async close() {
          closed = true;
        },
      };
      return { ...handle, ...alter(handle, backend) };
    },
  };
}

/** Changes of a store; none where the store cannot tell. */
export const changesOf = (store: Store, namespace: string, cursor: number): StateChanges =>
  store.changesSince?.(namespace, cursor) ?? { cursor, written: undefined };

/** More than a store of a test gives out. */
const CURSORS = 1_000_000;

/** The reduction with what it writes passed through `change`. */
export function withWrites(reduce: Reduce, change: (writes: readonly StateWrite[]) => readonly StateWrite[]): Reduce {
  return function* (entry): Reduction {
    return change(yield* reduce(entry));
  };
}

/** The work with what it returns passed through `change`. */
export function withRevision(given: HeadWork, change: (revision: Revision) => Revision): HeadWork {
  return {
    ...given,
    *work(entries, head) {
      const revision = yield* given.work(entries, head);
      return revision && change(revision);
    },
  };
}

/** Address of a state, for the mutants' own maps. */
export const address = (scope: string, id: string): string => JSON.stringify([scope, id]);

const digests = ledgerDigests((bytes) => createHash("sha256").update(bytes).digest());

/** How a ledger is put into its digest, where it can go wrong. */
interface Digesting {
  columns(entry: EntryColumns): EntryColumns;
  first(namespace: string): Uint8Array;
}

/** Gives a memory store a check of its ledger, by digests that are made when they are asked for. Honest as it stands. */
export function verifying(
  store: Store,
  { columns = (entry) => entry, first = digests.first }: Partial<Digesting> = {},
): Pick<Required<Store>, "atHead" | "eraseNamespace" | "verify"> {
  /** Digests of the last entries that were compacted away. */
  const bases = new Map<string, Uint8Array>();
  /** Digests by the places of their entries. */
  const chain = async (namespace: string): Promise<readonly Uint8Array[]> => {
    const chained: Uint8Array[] = [];
    let digest = bases.get(namespace) ?? first(namespace);
    for (const { key, type, ...entry } of await store.readEntries(namespace, { limit: 10_000 })) {
      digest = digests.entry(digest, columns({ ...entry, key: nameToBytes(key), type: nameToBytes(type) }));
      chained[entry.seq] = digest;
    }
    return chained;
  };
  return {
    async atHead(namespace, given) {
      const chained = await chain(namespace);
      const noting = withRevision(given, (revision) => {
        const base = chained[given.checkpoint?.seq ?? 0];
        if (base) bases.set(namespace, base);
        return revision;
      });
      return store.atHead(namespace, noting);
    },
    async eraseNamespace(namespace) {
      bases.delete(namespace);
      await store.eraseNamespace(namespace);
    },
    async verify(only) {
      const report = new DamageReport();
      for (const namespace of await store.namespaces({ limit: 10_000 })) {
        if (only !== undefined && namespace !== only) continue;
        report.addNamespace((await chain(namespace)).at(-1) ?? bases.get(namespace) ?? first(namespace));
        report.entries += (await store.readEntries(namespace, { limit: 10_000 })).length;
      }
      return report.result(digests, only);
    },
  };
}
