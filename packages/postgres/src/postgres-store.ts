import {
  assertBatch,
  assertEntry,
  assertLimit,
  assertName,
  assertState,
  type CommitReceipt,
  QavrError,
  type StateRef,
  type Store,
  stateAddress,
} from "@qavr/core";
import { type CommitCall, CommitGroup, type GroupCommit } from "./commit-group.js";
import { type Connection, connections } from "./connections.js";
import { KnownStates } from "./known-states.js";
import { ledgerSql } from "./ledger-sql.js";
import { nameId } from "./name-id.js";
import { namespaceQueue, type QueuedCall } from "./namespace-queue.js";
import { type LockedNamespace, nameScope, withLockedNamespace } from "./namespace-transaction.js";
import { type Notifications, notifications } from "./notifications.js";
import { isConnectionLoss, isTransient, toStoreError } from "./postgres-errors.js";
import { type PostgresStoreOptions, resolveOptions } from "./postgres-options.js";
import { prepareSchema } from "./schema.js";
import { type ReadNamespace, stateReader } from "./state-reader.js";

/** A call that writes: one of the commits that share a transaction, or work that has one of its own. */
type WriteCall = QueuedCall & {
  reject(error: unknown): void;
} & (
    | (CommitCall & { readonly alone: false; resolve(receipts: readonly CommitReceipt[]): void })
    | {
        readonly alone: true;
        readonly work: (locked: LockedNamespace) => Promise<unknown>;
        resolve(result: unknown): void;
      }
  );

/**
 * A ledger and its state in PostgreSQL, for many processes and machines, through `pg`. Nothing is connected, and nothing created,
 * before the first call; a failed first call is tried again by the next one.
 *
 * Acknowledged outcomes survive crashes of the server, and of its machine as far as its own settings promise.
 *
 * @param options a `postgres://` URL, or all options
 * @throws INVALID_ARGUMENT at once; from the first call on STORE_UNAVAILABLE, STORE_DENIED, STORE_UNWRITABLE, STORE_FOREIGN,
 *   STORE_NEWER_SCHEMA, STORE_BUSY, STORE_COMMIT_UNKNOWN, STORE_CORRUPT, STORE_FAILED
 * @example
 * const store = postgresStore({ pool: new Pool({ connectionString }) });
 */
export function postgresStore(options: string | PostgresStoreOptions): Store {
  const resolved = resolveOptions(options);
  const { place, staleness, rowLevelSecurity, schema } = resolved;
  const source = connections(resolved.source, resolved);
  const replica = resolved.replica && connections(resolved.replica, resolved);
  const sql = ledgerSql(schema);
  const states = new KnownStates(resolved.cacheBytes);
  /** Whether commits may do without a transaction of several statements, which is where settings can be made. */
  let lockless = false;
  let preparing: Promise<void> | undefined;
  let notices: Notifications | undefined;
  let closing: Promise<void> | undefined;

  const prepared = (): Promise<void> => {
    preparing ??= withSecondTry(() => prepareSchema(source, resolved)).then(
      (server) => {
        lockless = !rowLevelSecurity && server.synchronous;
        if (resolved.listen && !closing) notices = notifications(source, schema, states);
      },
      (error: unknown) => {
        preparing = undefined;
        throw toStoreError(error, place);
      },
    );
    return preparing;
  };

  /** Runs a read; with row-level security inside a transaction that names its namespace. */
  const reader =
    (from: typeof source): ReadNamespace =>
    (namespace, read) =>
      inScope(from, nameId(namespace), read);
  const inScope = async <Result>(
    from: typeof source,
    id: string,
    read: (connection: Connection) => Promise<Result>,
  ): Promise<Result> => {
    await prepared();
    try {
      return await withSecondTry(() =>
        from.use(async (connection) => {
          if (!rowLevelSecurity) return read(connection);
          try {
            await connection.script(`begin; ${nameScope(id)}`);
            return await read(connection);
          } finally {
            await connection.script("rollback");
          }
        }),
      );
    } catch (error) {
      throw toStoreError(error, place);
    }
  };
  const read = reader(source);
  const reads = stateReader({ sql, states, primary: read, replica: replica && reader(replica), staleness });

  const announce = (namespace: string, before: number, after: number, written: readonly StateRef[] | undefined): void =>
    notices?.announce({ namespace, before, after, written });

  /** Without the lock where that promises to work, else with it. */
  const commitGroup = async (namespace: string, group: CommitGroup): Promise<GroupCommit> => {
    let unknown = false;
    if (lockless && states.ownHead(namespace)) {
      try {
        const done = await source.use((connection) => group.runAlone(connection));
        if (done) return done;
      } catch (error) {
        unknown = isConnectionLoss(error);
        if (!unknown && !isTransient(error)) throw error;
      }
    }
    return withLockedNamespace(source, sql, resolved, namespace, (locked) => group.run(locked), unknown);
  };

  const commitTogether = async (
    namespace: string,
    calls: readonly Extract<WriteCall, { alone: false }>[],
  ): Promise<void> => {
    const group = new CommitGroup(namespace, calls, sql, states);
    const { answers, written } = await commitGroup(namespace, group);
    if (written) {
      states.committed(namespace, written);
      announce(namespace, written.before, written.after, written.states);
    }
    for (const [place, call] of calls.entries()) {
      const answer = answers[place];
      if (answer && "receipts" in answer) call.resolve(answer.receipts);
      else call.reject(answer?.error);
    }
  };

  const queue = namespaceQueue<WriteCall>(resolved.writers, async (namespace, calls) => {
    try {
      await prepared();
      const [first] = calls;
      if (first?.alone) first.resolve(await withLockedNamespace(source, sql, resolved, namespace, first.work));
      else await commitTogether(namespace, calls as readonly Extract<WriteCall, { alone: false }>[]);
    } catch (error) {
      // A commit that failed, as far as anybody knows, may have been kept all the same.
      states.forget(namespace);
      for (const call of calls) call.reject(toStoreError(error, place));
    }
  });
  const alone = <Result>(namespace: string, work: (locked: LockedNamespace) => Promise<Result>): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      queue.add(namespace, { alone: true, work, resolve: resolve as (result: unknown) => void, reject });
    });

  const enter = (namespace?: string): void => {
    if (closing)
      throw new QavrError("STORE_CLOSED", `The ledger in ${place} was closed before this call. Open it again.`);
    if (namespace !== undefined) assertName(namespace, "namespace");
  };

  return {
    name: "postgres",
    capabilities: { durable: true, sharedBackend: true, ...(staleness > 0 ? { staleness } : {}) },

    async commit(namespace, entries, reduce) {
      enter(namespace);
      assertBatch(entries.length, "commit");
      for (const entry of entries) assertEntry(entry);
      if (entries.length === 0) return [];
      return new Promise<readonly CommitReceipt[]>((resolve, reject) => {
        queue.add(namespace, { alone: false, entries, reduce, resolve, reject });
      });
    },

    async readStates(namespace, scope, ids, { mayLag = false } = {}) {
      enter(namespace);
      assertName(scope, "state scope");
      assertBatch(ids.length, "read");
      for (const id of ids) assertName(id, "state id");
      return reads.read(namespace, scope, ids, mayLag);
    },

    async refresh(namespace, { mayLag = false } = {}) {
      enter(namespace);
      await reads.refresh(namespace, mayLag);
    },

    changesSince(namespace, cursor) {
      enter(namespace);
      return states.changesSince(namespace, cursor);
    },

    async scanStates(namespace, scope, page) {
      enter(namespace);
      assertName(scope, "state scope");
      assertLimit(page.limit);
      return read(namespace, (connection) => sql.scan(connection, namespace, scope, page));
    },

    async readEntries(namespace, { after = 0, limit }) {
      enter(namespace);
      assertLimit(limit);
      return read(namespace, (connection) => sql.entries(connection, namespace, after, limit));
    },

    async head(namespace) {
      enter(namespace);
      return read(namespace, (connection) => sql.head(connection, namespace));
    },

    async namespaces(page) {
      enter();
      assertLimit(page.limit);
      return inScope(source, "*", (connection) => sql.namespaces(connection, page));
    },

    async replaceStates(namespace, head, replacement) {
      enter(namespace);
      for (const state of replacement) assertState(state);
      return alone(namespace, async ({ connection, row, commit }) => {
        if ((row?.head ?? 0) !== head) return false;
        if (!row || head === 0) return true;
        const after = row.revision + 1;
        await sql.deleteStates(connection, namespace);
        const last = new Map(replacement.map((state) => [stateAddress(state), state]));
        await sql.write(connection, namespace, { head, revision: after, entries: [], states: [...last.values()] });
        const askedAt = await commit();
        states.forget(namespace);
        states.observe(namespace, after, askedAt);
        announce(namespace, row.revision, after, undefined);
        return true;
      });
    },

    async eraseNamespace(namespace) {
      enter(namespace);
      await alone(namespace, async ({ connection, row, commit }) => {
        if (row) await sql.deleteNamespace(connection, namespace);
        const askedAt = await commit();
        states.erased(namespace, askedAt);
        if (row) announce(namespace, row.revision, row.revision + 1, undefined);
      });
    },

    close() {
      closing ??= queue.drained().then(async () => {
        await notices?.close();
        await source.close();
        await replica?.close();
      });
      return closing;
    },
  };
}

/** A connection that broke while nobody looked fails at its first use; another one may be fine. */
async function withSecondTry<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isConnectionLoss(error)) throw error;
    return work();
  }
}
