import {
  assertBatch,
  assertCompaction,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  ChangeLog,
  nameToBytes,
  QavrError,
  StateCache,
  type StateWrite,
  type Store,
} from "@qavr/core";
import { type BackupReport, copyLedger } from "./backup.js";
import { checkpointTables } from "./checkpoint-tables.js";
import { CommitDraft } from "./commit-draft.js";
import { ledgerTables } from "./ledger-tables.js";
import { logKeeper } from "./log-keeper.js";
import { openDatabase, prepareTables } from "./open-database.js";
import { toStoreError } from "./sqlite-errors.js";
import { resolveOptions, type SqliteStoreOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { verifyLedger } from "./verify-ledger.js";
import { writeQueue } from "./write-queue.js";

/** A store that owns its file: everything that a store may offer, and copies of itself. */
export interface SqliteStore extends Required<Omit<Store, "refresh">> {
  /**
   * Copies the ledger as it is at this moment to a new file, while this and other processes may go on writing, and reads the copy
   * back. The event loop waits for it: about 0.3 s for 60 MB. {@link restoreBackup} makes a ledger of it again.
   *
   * @throws INVALID_ARGUMENT for what names no file; STORE_UNWRITABLE when there is a file already, or none can be made; STORE_CORRUPT
   *   when what was copied is damaged
   */
  backup(path: string): Promise<BackupReport>;
}

/**
 * A ledger and its state in one SQLite file, through Node's own `node:sqlite`. Opens synchronously; every fault of the file is
 * reported here and not at the first outcome.
 *
 * Acknowledged outcomes survive crashes and power loss (see `synchronous`). Several processes may share the file, unless
 * Node's SQLite is older than 3.51.3: then the first one keeps it locked, and `capabilities.sharedBackend` is false.
 *
 * @param options the file's path, or all options
 * @throws INVALID_ARGUMENT, STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE
 * @example
 * const store = sqliteStore(".qavr/ledger.db");
 */
export function sqliteStore(options: string | SqliteStoreOptions): SqliteStore {
  const resolved = resolveOptions(options);
  const { path, readOnly, inMemory, cacheBytes } = resolved;
  const opened = openDatabase(resolved);
  const { db, shared, assertFrozen } = opened;
  const tables = prepareTables(db, path, () => ledgerTables(db, path));
  const checkpoints = prepareTables(db, path, () => checkpointTables(db, path, tables));
  const log = logKeeper(opened, resolved);
  const cache = new StateCache(cacheBytes);
  const changes = new ChangeLog();
  let version = tables.dataVersion();
  let closing: Promise<void> | undefined;

  /** Anything in the file may differ from what is remembered of it. */
  const forgetAll = (): void => {
    cache.clear();
    changes.forget();
  };
  const noticeOthers = (): void => {
    // Without other connections nothing but our own commits changes the file.
    if (!shared) return;
    const current = tables.dataVersion();
    if (current === version) return;
    version = current;
    forgetAll();
  };

  /** Through the cache, on the state of the file that the running transaction sees. */
  const load = (namespace: string, scope: string, ids: readonly string[]): (Uint8Array | undefined)[] => {
    const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
    const unknown = cache.read(namespace, scope, ids, values);
    if (unknown.length === 0) return values;
    const missing = unknown.map((place) => ids[place] as string);
    for (const [i, value] of tables.states(namespace, scope, missing).entries()) {
      values[unknown[i] as number] = value;
      cache.write(namespace, scope, missing[i] as string, value);
    }
    return values;
  };

  const queue = writeQueue<CommitDraft>(db, resolved, {
    prepare: log.look,
    begin() {
      noticeOthers();
      return new CommitDraft(tables, load);
    },
    write: (draft) => draft.write(),
    committed(draft) {
      for (const { namespace, states } of draft.written()) {
        for (const { scope, id, value } of states) cache.write(namespace, scope, id, value ?? undefined);
        changes.add(namespace, states);
      }
      log.committed();
    },
    // A failed COMMIT may have reached the disk all the same.
    abandoned: forgetAll,
  });

  /** @param named the namespace, of calls that have one: one that is undefined is none */
  const enter = (...named: readonly unknown[]): void => {
    if (closing) throw new QavrError("STORE_CLOSED", `The ledger ${path} was closed before this call. Open it again.`);
    for (const namespace of named) assertName(namespace, "namespace");
    assertFrozen?.();
  };
  const enterForWriting = (...named: readonly unknown[]): void => {
    enter(...named);
    if (!readOnly) return;
    throw new QavrError("STORE_UNWRITABLE", `The ledger ${path} was opened for reading only.`, { details: { path } });
  };
  const reading = <Result>(read: () => Result): Result => {
    try {
      return read();
    } catch (error) {
      throw toStoreError(error, path);
    }
  };

  /** Puts other states in the place of all that a namespace has. */
  const replace = (id: number, namespace: string, states: readonly StateWrite[]): void => {
    tables.deleteStates(id);
    for (const state of states) tables.writeState(tables.scopeId(id, state.scope), state.id, state.value);
    cache.clear();
    changes.forget(namespace);
  };

  return {
    name: "sqlite",
    capabilities: { durable: !inMemory, sharedBackend: shared },

    async commit(namespace, entries, reduce) {
      enterForWriting(namespace);
      assertBatch(entries.length, "commit");
      for (const entry of entries) assertEntry(entry);
      return queue.together((draft) => draft.add(namespace, entries, reduce));
    },

    async readStates(namespace, scope, ids) {
      enter(namespace);
      assertName(scope, "state scope");
      assertBatch(ids.length, "read");
      for (const id of ids) assertName(id, "state id");
      return reading(() => {
        noticeOthers();
        const values = new Array<Uint8Array | undefined>(ids.length).fill(undefined);
        if (cache.read(namespace, scope, ids, values).length === 0) return values;
        return inSnapshot(db, () => {
          noticeOthers();
          return load(namespace, scope, ids);
        });
      });
    },

    changesSince(namespace, cursor) {
      enter(namespace);
      reading(noticeOthers);
      return changes.since(namespace, cursor);
    },

    async scanStates(namespace, scope, page) {
      enter(namespace);
      assertName(scope, "state scope");
      assertLimit(page.limit);
      return reading(() => tables.scan(namespace, scope, page));
    },

    async readEntries(namespace, { after = 0, limit }) {
      enter(namespace);
      assertLimit(limit);
      return reading(() => inSnapshot(db, () => tables.entries(namespace, after, limit)));
    },

    async head(namespace) {
      enter(namespace);
      return reading(() => tables.namespace(namespace)?.head ?? 0);
    },

    async namespaces(page) {
      enter();
      assertLimit(page.limit);
      return reading(() => tables.namespaces(page));
    },

    async replaceStates(namespace, head, states) {
      enterForWriting(namespace);
      for (const state of states) assertState(state);
      return queue.alone(() => {
        const row = tables.namespace(namespace);
        if ((row?.head ?? 0) !== head) return false;
        if (!row) return true;
        replace(row.id, namespace, states);
        return true;
      });
    },

    async compact(namespace, compaction) {
      enterForWriting(namespace);
      assertCompaction(
        compaction,
        reading(() => tables.namespace(namespace)?.base ?? 0),
      );
      return queue.alone(() => {
        const row = tables.namespace(namespace);
        if (!row || row.head !== compaction.head) return false;
        assertCompaction(compaction, row.base);
        checkpoints.write(row, compaction);
        replace(row.id, namespace, compaction.states);
        return true;
      });
    },

    async readCheckpoint(namespace) {
      enter(namespace);
      return reading(() =>
        inSnapshot(db, () => {
          const row = tables.namespace(namespace);
          return row && checkpoints.read(row);
        }),
      );
    },

    async verify(namespace) {
      enter(...(namespace === undefined ? [] : [namespace]));
      const only = namespace === undefined ? undefined : nameToBytes(namespace);
      return reading(() => inSnapshot(db, () => verifyLedger(db, checkpoints, only)));
    },

    async repair() {
      enterForWriting();
      await queue.alone(() => {
        db.exec("REINDEX");
        tables.deleteLostStates();
      });
    },

    async backup(to) {
      enter();
      return reading(() => copyLedger(db, to));
    },

    async eraseNamespace(namespace) {
      enterForWriting(namespace);
      await queue.alone(() => {
        const row = tables.namespace(namespace);
        if (row) tables.deleteNamespace(row.id);
        cache.clear();
        changes.forget(namespace);
      });
      // Rows are overwritten in the file by then; the log holds their earlier versions until it is cut.
      await log.cut(resolved.busyTimeout);
    },

    close() {
      closing ??= queue.drained().then(() => {
        log.close();
        db.close();
      });
      return closing;
    },
  };
}
