import { QavrError, type Store } from "@qavr/core";
import {
  assertBatch,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  ChangeLog,
  type CheckpointChange,
  type Revision,
  runOn,
  StateCache,
  type StateRef,
} from "@qavr/core/store";
import { type BackupReport, copyLedger } from "./backup.js";
import { checkpointTables } from "./checkpoint-tables.js";
import { findKey, GroupedCommits } from "./grouped-commits.js";
import { assertReaches, type HighWaterMark, openMark, readMark } from "./high-water-mark.js";
import { logLeftBeside } from "./ledger-files.js";
import { type LedgerTables, ledgerTables, type NamespaceRow } from "./ledger-tables.js";
import { logKeeper } from "./log-keeper.js";
import { openDatabase, prepareTables } from "./open-database.js";
import { damagedCheckpoint, toStoreError } from "./sqlite-errors.js";
import { resolveSqliteOptions, type SqliteStoreOptions } from "./sqlite-options.js";
import { inSnapshot } from "./transaction.js";
import { verifyLedger } from "./verify-ledger.js";
import { writeQueue } from "./write-queue.js";

/** A store in one file, with all optional methods of a store and with backups. */
export interface SqliteStore extends Required<Omit<Store, "refresh" | "outbox" | "places">> {
  /**
   * Copies the ledger as it is at this moment to a new file and verifies the copy. Other processes may go on writing. Blocks the event
   * loop: about 0.3 s for 60 MB. {@link restoreBackup} makes a ledger of it again.
   *
   * @throws INVALID_ARGUMENT for a path that names no file; STORE_UNWRITABLE when the file exists or cannot be made; STORE_CORRUPT when
   *   the ledger is damaged
   */
  backup(path: string): Promise<BackupReport>;
}

/**
 * A ledger and its state in one SQLite file, through Node's own `node:sqlite`. Opens synchronously and throws here for every fault of
 * the file.
 *
 * Acknowledged outcomes survive crashes and power loss (see `synchronous`). Several processes may share the file. With SQLite
 * older than 3.51.3 the first one that writes keeps it locked, and its `capabilities.sharedBackend` is false.
 *
 * @param options the file's path, or all options
 * @throws INVALID_ARGUMENT, STORE_UNWRITABLE, STORE_FOREIGN, STORE_CORRUPT, STORE_NEWER_SCHEMA, STORE_BUSY, STORE_UNAVAILABLE
 * @example
 * const store = sqliteStore(".qavr/ledger.db");
 */
export function sqliteStore(options: string | SqliteStoreOptions): SqliteStore {
  const resolved = resolveSqliteOptions(options);
  const { path, readOnly, inMemory, cacheBytes } = resolved;
  // Before the file: commits of other processes that come meanwhile put the ledger ahead of its mark.
  const marked = inMemory ? undefined : readMark(path);
  const logIsEmpty = logLeftBeside(path) === undefined;
  const opened = openDatabase(resolved, marked && { marked });
  const { db, shared, assertSame } = opened;
  const tables = prepareTables(db, path, () => ledgerTables(db, path));
  const checkpoints = prepareTables(db, path, () => checkpointTables(db, tables));
  const mark = openLedgerMark();
  const log = logKeeper(opened, resolved);
  const cache = new StateCache(cacheBytes);
  const changes = new ChangeLog();
  let version = tables.dataVersion();
  let closing: Promise<void> | undefined;

  /** Undefined in memory, and for reading only. @throws STORE_CORRUPT for a ledger that lacks its marked commit */
  function openLedgerMark(): HighWaterMark | undefined {
    try {
      if (marked?.last && !opened.isNew) {
        const { last } = marked;
        inSnapshot(db, () => assertReaches(last, tables, path));
      }
      if (inMemory || readOnly) return undefined;
      return openMark(path, { fresh: opened.isNew, synced: resolved.synchronous === "full", logIsEmpty });
    } catch (error) {
      db.close();
      throw toStoreError(error, path);
    }
  }

  /** Drops everything cached: the file may have changed. */
  const forgetAll = (): void => {
    cache.clear();
    changes.forget();
  };
  const noticeOthers = (): void => {
    // Only this connection changes an unshared file.
    if (!shared) return;
    const current = tables.dataVersion();
    if (current === version) return;
    version = current;
    forgetAll();
  };

  /** Reads states through the cache, in the running transaction. */
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

  const queue = writeQueue<GroupedCommits>(db, resolved, {
    prepare: log.look,
    begin() {
      noticeOthers();
      mark?.begin();
      return new GroupedCommits(tables, load);
    },
    write: (group) => group.write(),
    committed(group) {
      if (group.end) mark?.committed(group.end);
      for (const { namespace, states } of group.written()) {
        for (const { scope, id, value } of states) cache.write(namespace, scope, id, value ?? undefined);
        changes.add(namespace, states);
      }
      log.committed();
    },
    // A failed COMMIT may still have reached the disk.
    abandoned: forgetAll,
  });

  /** @param named the namespace, if the call has one; undefined is refused */
  const enter = (...named: readonly unknown[]): void => {
    if (closing) throw new QavrError("STORE_CLOSED", `The ledger ${path} was closed before this call. Open it again.`);
    for (const namespace of named) assertName(namespace, "namespace");
    assertSame?.();
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

  const revise = (
    row: NamespaceRow,
    namespace: string,
    { states }: Revision,
    checkpoint: CheckpointChange | undefined,
  ): void => {
    for (const state of [...states, ...(checkpoint?.states ?? [])]) assertState(state);
    if (checkpoint && checkpoint.seq < row.base) return;
    for (const state of states) {
      tables.writeState(tables.scopeId(row.id, state.scope), state);
      cache.write(namespace, state.scope, state.id, state.value ?? undefined);
    }
    if (states.length > 0) changes.forget(namespace);
    if (checkpoint) checkpoints.write(row, checkpoint);
  };

  return {
    name: "sqlite",
    capabilities: { durable: !inMemory, sharedBackend: shared },

    async commit(namespace, entries, reduce) {
      enterForWriting(namespace);
      assertBatch(entries.length, "commit");
      for (const entry of entries) assertEntry(entry);
      return queue.together((group) => group.add(namespace, entries, reduce));
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

    async findKey(namespace, key) {
      enter(namespace);
      assertName(key, "idempotency key");
      return reading(() =>
        inSnapshot(db, () => {
          const row = tables.namespace(namespace);
          return row && findKey(tables, row, key);
        }),
      );
    },

    async head(namespace) {
      enter(namespace);
      return reading(() => inSnapshot(db, () => tables.wholeNamespace(namespace)?.head ?? 0));
    },

    async namespaces(page) {
      enter();
      assertLimit(page.limit);
      return reading(() => tables.namespaces(page));
    },

    async atHead(namespace, { after, limit, write, checkpoint, work }) {
      if (!write) enter(namespace);
      else enterForWriting(namespace);
      assertLimit(limit);
      const run = (): boolean => {
        const row = tables.wholeNamespace(namespace);
        const [base, head] = [row?.base ?? 0, row?.head ?? 0];
        if (head - Math.max(after, base) > limit) return false;
        const entries = row ? tables.entries(namespace, after, limit) : [];
        const revision = runOn(work(entries, head), (refs) => statesOf(refs, tables, namespace));
        if (row && revision && write) revise(row, namespace, revision, checkpoint);
        return true;
      };
      return write ? queue.alone(run) : reading(() => inSnapshot(db, run));
    },

    async readCheckpoint(namespace) {
      enter(namespace);
      return reading(() =>
        inSnapshot(db, () => {
          const row = tables.namespace(namespace);
          if (!row?.base) return undefined;
          const states = checkpoints.states(row);
          if (!states) throw damagedCheckpoint(path, row.base);
          return { seq: row.base, states };
        }),
      );
    },

    async verify(namespace, progress) {
      enter(...(namespace === undefined ? [] : [namespace]));
      return reading(() => inSnapshot(db, () => verifyLedger(db, checkpoints, { only: namespace, progress })));
    },

    async repair() {
      enterForWriting();
      await queue.alone(() => {
        db.exec("REINDEX");
        tables.mendEnds();
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
        if (row) {
          mark?.forget();
          tables.deleteNamespace(row.id);
        }
        cache.clear();
        changes.forget(namespace);
      });
      // The rows are overwritten in the file; the log holds their earlier versions until it is truncated.
      await log.cut(resolved.busyTimeout);
    },

    close() {
      closing ??= queue.drained().then(() => {
        log.close();
        db.close();
        mark?.close();
      });
      return closing;
    },
  };
}

/** Reads states from the file, scope by scope. */
function statesOf(refs: readonly StateRef[], tables: LedgerTables, namespace: string): (Uint8Array | undefined)[] {
  const values = new Array<Uint8Array | undefined>(refs.length).fill(undefined);
  for (const [scope, places] of Map.groupBy(refs.keys(), (place) => (refs[place] as StateRef).scope)) {
    const ids = places.map((place) => (refs[place] as StateRef).id);
    for (const [i, value] of tables.states(namespace, scope, ids).entries()) values[places[i] as number] = value;
  }
  return values;
}
