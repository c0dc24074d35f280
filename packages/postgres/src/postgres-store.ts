import { setTimeout as pause } from "node:timers/promises";
import { QavrError, type Store } from "@qavr/core";
import {
  assertBatch,
  assertEntry,
  assertLimit,
  assertName,
  type Checkpoint,
  checkpointStates,
  type ScanOptions,
} from "@qavr/core/store";
import { type Connection, type Connections, connections, usualSilence } from "./connection/connections.js";
import { damagedCheckpoint, isConnectionLoss, isUnexpected, toStoreError } from "./connection/postgres-errors.js";
import { inTransaction, limits } from "./connection/transaction.js";
import { type PostgresStoreOptions, resolvePostgresOptions } from "./postgres-options.js";
import { KnownStates } from "./reading/known-states.js";
import { type Notifications, notifications } from "./reading/notifications.js";
import { type ReadNamespace, stateReader } from "./reading/state-reader.js";
import { type VerifyOptions, verifyLedger } from "./reading/verify-ledger.js";
import { workAtHead } from "./reading/work-at-head.js";
import { checkpointSql, type NamedPage } from "./tables/checkpoint-sql.js";
import { digests, nameId } from "./tables/digests.js";
import { ledgerSql } from "./tables/ledger-sql.js";
import { nameScope } from "./tables/namespace-transaction.js";
import { placements } from "./tables/placements.js";
import { prepareSchema, rebuildIndexes, type ServerFacts } from "./tables/schema.js";
import { enterShard, ON_EVERY_NODE } from "./tables/shards.js";
import { quoted } from "./tables/sql-text.js";
import { writer } from "./writing/writer.js";

/** Names all namespaces for row-level security. */
const ALL = "*";

/**
 * A ledger and its state in PostgreSQL, for many processes and machines, through `pg`. Connects, and creates tables, at the first call;
 * the next call repeats a failed first one.
 *
 * Acknowledged outcomes survive crashes of the server, and of its machine if the server's settings allow.
 *
 * @param options a `postgres://` URL, or all options
 * @throws INVALID_ARGUMENT at once; from the first call on STORE_UNAVAILABLE, STORE_DENIED, STORE_UNWRITABLE, STORE_FOREIGN,
 *   STORE_NEWER_SCHEMA, STORE_BUSY, STORE_COMMIT_UNKNOWN, STORE_CORRUPT, STORE_FAILED, STORE_CLOSED
 * @example
 * const store = postgresStore({ pool: new Pool({ connectionString }) });
 */
export function postgresStore(options: string | PostgresStoreOptions): Required<Omit<Store, "outbox" | "places">> {
  const resolved = resolvePostgresOptions(options);
  const { place, staleness, schema } = resolved;
  const source = connections(resolved.source, resolved);
  const replica = resolved.replica && connections(resolved.replica, resolved);
  const sql = ledgerSql(resolved);
  const checkpoints = checkpointSql(schema);
  const nodeOf = placements(source, schema);
  const states = new KnownStates(resolved.cacheBytes);
  let preparing: Promise<ServerFacts> | undefined;
  let notices: Notifications | undefined;
  let closing: Promise<void> | undefined;
  /** Reads and repairs in progress, which closing waits for. */
  const underWay = new Set<Promise<unknown>>();

  const prepared = ({ again = false } = {}): Promise<ServerFacts> => {
    if (again) preparing = undefined;
    preparing ??= withSecondTry(place, () => prepareSchema(source, resolved)).then(
      (facts) => {
        if (resolved.listen && !closing) notices ??= notifications(source, schema, states);
        return facts;
      },
      (error: unknown) => {
        preparing = undefined;
        throw error;
      },
    );
    return preparing;
  };

  /** Runs work, once more where it failed because the tables were distributed or brought back since. */
  const onTables = async <Result>(work: (facts: ServerFacts) => Promise<Result>): Promise<Result> => {
    const facts = await prepared();
    return work(facts).catch(async (error: unknown) => {
      if (!isUnexpected(error)) throw error;
      const now = await prepared({ again: true });
      if (now.sharded === facts.sharded) throw error;
      return work(now);
    });
  };

  /**
   * Runs a read. Uses a transaction with row-level security, to name its namespace (`*` for all names), and behind a pooler, for its
   * limits.
   *
   * @param options.begin statement that begins the transaction of a read that always needs one
   * @param options.lasting true for work that closing does not wait for
   */
  const readFrom = async <Result>(
    from: Connections,
    id: string,
    read: (connection: Connection, facts: ServerFacts) => Promise<Result>,
    { begin, lasting = false }: { readonly begin?: string; readonly lasting?: boolean } = {},
  ): Promise<Result> => {
    const readOnce = async (facts: ServerFacts): Promise<Result> => {
      const { rowLevelSecurity, sharded } = facts;
      const enter = sharded && id !== ALL ? enterShard(quoted(schema), id, resolved) : "";
      const scope = rowLevelSecurity ? `${nameScope(id)} ${enter}` : "";
      const scoped = (connection: Connection): Promise<Result> =>
        rowLevelSecurity || begin || !from.limitsSessions
          ? inTransaction(connection, `${begin ?? "begin"}; ${limits(resolved)} ${scope}`, async () => {
              if (rowLevelSecurity && sharded && id === ALL) {
                await connection.script(ON_EVERY_NODE);
                await connection.script(`set local qavr.namespace = '${ALL}'`);
              }
              return read(connection, facts);
            })
          : read(connection, facts);
      const node = sharded && id !== ALL ? await nodeOf(id) : undefined;
      return from.use(scoped, { lasting, node });
    };
    return onTables((facts) => withSecondTry(place, () => readOnce(facts)));
  };
  const read: ReadNamespace = (namespace, work) => readFrom(source, nameId(namespace), work);
  /** Several reads of one moment. */
  const snapshot: ReadNamespace = (namespace, work) =>
    readFrom(source, nameId(namespace), work, {
      begin: "begin isolation level repeatable read read only",
      lasting: true,
    });
  const readReplica: ReadNamespace | undefined =
    replica && ((namespace, work) => readFrom(replica, nameId(namespace), work));
  const reads = stateReader({ sql, states, primary: read, replica: readReplica, staleness });
  const writes = writer({
    ...resolved,
    source,
    sql,
    checkpoints,
    states,
    nodeOf,
    onTables,
    announce: (announcement) => notices?.announce(announcement),
  });

  /**
   * One page of the namespaces, in the order of their names.
   *
   * @param partial true to leave out the nodes of a cluster that do not answer
   */
  const listed = async (
    { after, limit }: ScanOptions,
    { partial, lasting = false }: { readonly partial: boolean; readonly lasting?: boolean },
  ): Promise<NamedPage> => {
    try {
      const page = (connection: Connection) => checkpoints.namespaces(connection, after, limit);
      return { rows: await readFrom(source, ALL, page, { lasting }), missing: [] };
    } catch (error) {
      if (!partial || !QavrError.isInstance(error, "STORE_UNAVAILABLE")) throw error;
      const { sharded, rowLevelSecurity } = await prepared();
      // Row-level security hides all names from the sessions that ask each shard by itself.
      if (!sharded || rowLevelSecurity) throw error;
      const page = (connection: Connection) => checkpoints.reachable(connection, after, limit);
      return readFrom(source, ALL, page, { lasting });
    }
  };

  const rebuild = async (): Promise<void> => {
    await prepared();
    await withSecondTry(place, () => rebuildIndexes(source, resolved));
  };

  /** @param named the namespace, if the call has one; undefined is refused */
  const enter = (...named: readonly unknown[]): void => {
    if (closing)
      throw new QavrError("STORE_CLOSED", `The ledger in ${place} was closed before this call. Open it again.`);
    for (const namespace of named) assertName(namespace, "namespace");
  };

  const waitedFor = <Result>(call: Promise<Result>): Promise<Result> => {
    const ended = (): void => void underWay.delete(call);
    underWay.add(call);
    call.then(ended, ended);
    return call;
  };

  /** Waits for work in progress, for lasting work no longer than for a statement; afterwards no work uses a pool. */
  const end = async (): Promise<void> => {
    const done = new AbortController();
    pause(usualSilence(resolved), undefined, { signal: done.signal }).then(
      () => {
        source.giveUp();
        replica?.giveUp();
      },
      () => {},
    );
    await Promise.allSettled([writes.drained(), ...underWay]);
    done.abort();
    await notices?.close();
    await source.close();
    await replica?.close();
  };

  return {
    name: "postgres",
    capabilities: { durable: true, sharedBackend: true, ...(staleness > 0 ? { staleness } : {}) },

    async commit(namespace, entries, reduce) {
      enter(namespace);
      assertBatch(entries.length, "commit");
      for (const entry of entries) assertEntry(entry);
      return entries.length === 0 ? [] : writes.commit(namespace, entries, reduce);
    },

    async readStates(namespace, scope, ids, { mayLag = false, refreshed = false } = {}) {
      enter(namespace);
      assertName(scope, "state scope");
      assertBatch(ids.length, "read");
      for (const id of ids) assertName(id, "state id");
      return waitedFor(reads.read(namespace, scope, ids, { mayLag, refreshed }));
    },

    async refresh(namespace, { mayLag = false } = {}) {
      enter(namespace);
      await waitedFor(reads.refresh(namespace, mayLag));
    },

    changesSince(namespace, cursor) {
      enter(namespace);
      return states.changesSince(namespace, cursor);
    },

    async scanStates(namespace, scope, page) {
      enter(namespace);
      assertName(scope, "state scope");
      assertLimit(page.limit);
      return waitedFor(read(namespace, (connection) => sql.scan(connection, namespace, scope, page)));
    },

    async readEntries(namespace, { after = 0, limit }) {
      enter(namespace);
      assertLimit(limit);
      return waitedFor(read(namespace, (connection) => sql.entries(connection, namespace, after, limit)));
    },

    async findKey(namespace, key) {
      enter(namespace);
      assertName(key, "idempotency key");
      const { taken } = await waitedFor(read(namespace, (connection) => sql.knownKeys(connection, namespace, [key])));
      return taken.get(key);
    },

    async head(namespace) {
      enter(namespace);
      return waitedFor(read(namespace, (connection) => sql.head(connection, namespace)));
    },

    async namespaces({ onMissing, ...page }) {
      enter();
      assertLimit(page.limit);
      const { rows, missing } = await waitedFor(listed(page, { partial: onMissing !== undefined }));
      for (const node of missing) onMissing?.(node);
      return rows.map(({ name }) => name);
    },

    async atHead(namespace, work) {
      enter(namespace);
      assertLimit(work.limit);
      if (work.write) return writes.atHead(namespace, work);
      const look = async (connection: Connection): Promise<boolean> => {
        const ends = await checkpoints.ends(connection, namespace);
        return (await workAtHead(connection, { ...work, sql, namespace, ends })).done;
      };
      return waitedFor(snapshot(namespace, look));
    },

    async readCheckpoint(namespace) {
      enter(namespace);
      const readCheckpoint = async (connection: Connection): Promise<Checkpoint | undefined> => {
        const ends = await checkpoints.ends(connection, namespace);
        if (!ends?.base) return undefined;
        const found = checkpointStates(await checkpoints.states(connection, namespace), ends, digests);
        if (!found) throw damagedCheckpoint(place, ends.base);
        return { seq: ends.base, states: found };
      };
      return waitedFor(snapshot(namespace, readCheckpoint));
    },

    async verify(namespace, progress) {
      enter(...(namespace === undefined ? [] : [namespace]));
      const namespaces: VerifyOptions["namespaces"] = (page) => listed(page, { partial: true, lasting: true });
      const kept: VerifyOptions["kept"] = (table, after, limit) =>
        readFrom(
          source,
          ALL,
          // Row-level security hides these rows. On shards, asking for them all the same ends the server of Citus 13.2 by a signal.
          async (connection, { sharded, rowLevelSecurity }) =>
            sharded && rowLevelSecurity ? [] : checkpoints.kept(connection, sharded, table, after, limit),
          { lasting: true },
        );
      return waitedFor(verifyLedger({ sql: checkpoints, place, namespaces, kept, snapshot, progress }, namespace));
    },

    async repair() {
      enter();
      await waitedFor(rebuild());
    },

    async eraseNamespace(namespace) {
      enter(namespace);
      await writes.eraseNamespace(namespace);
    },

    close() {
      closing ??= end();
      return closing;
    },
  };
}

/**
 * Repeats `work` once after a lost connection: one that broke while idle fails at its next use.
 *
 * @param place for messages
 */
async function withSecondTry<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work().catch((error: unknown) => {
      if (!isConnectionLoss(error)) throw error;
      return work();
    });
  } catch (error) {
    throw toStoreError(error, place);
  }
}
