import { setTimeout as pause } from "node:timers/promises";
import { type Connection, type Connections, type Limits, type Row, usualSilence } from "../connection/connections.js";
import {
  commitUnknown,
  isConnectionLoss,
  isInDoubt,
  isTransient,
  layoutChanged,
  toStoreError,
} from "../connection/postgres-errors.js";
import { DURABLY, inTransaction, LONG_STATEMENT, limits, statementLimit } from "../connection/transaction.js";
import { nameId } from "./digests.js";
import type { LedgerSql, NamespaceRow } from "./ledger-sql.js";
import type { NodeOf } from "./placements.js";
import type { ServerFacts } from "./schema.js";
import { enterShard } from "./shards.js";
import { quoted } from "./sql-text.js";

/** A transaction that holds the lock of one namespace's head. */
export interface LockedNamespace {
  readonly connection: Connection;
  /** Row of the namespace, undefined when it does not exist; then nothing is locked. */
  readonly row: NamespaceRow | undefined;
  readonly isSharded: boolean;
  /** Adds a missing namespace, empty, and locks it. */
  create(): Promise<NamespaceRow>;
  /**
   * Runs statements about all rows of the namespace with a long timeout. The server's timeout for this process stays the usual one.
   */
  timed(work: () => Promise<void>): Promise<void>;
  /** Commits, and returns the time of the request, ms of a steady clock. Without it everything is rolled back. */
  commit(): Promise<number>;
}

/** Options of locking. */
export interface LockingOptions extends Limits, ServerFacts {
  readonly source: Connections;
  readonly sql: LedgerSql;
  /** For messages. */
  readonly place: string;
  readonly schema: string;
  readonly nodeOf: NodeOf;
  /** Runs before the lock is taken, in the same transaction. */
  readonly beforeLock?: ((connection: Connection) => Promise<void>) | undefined;
  /** True for work that closing does not wait for. @default false */
  readonly lasting?: boolean;
}

/** Pauses before a transaction is tried again, in ms; together long enough for a restart of the server. */
const PAUSES = [25, 100, 400, 1_000];
/** No new try begins later than this after the first failure, in ms: tries on a silent server are slow. */
const RETRY_FOR = 3_000;

/**
 * Runs `work` with the namespace locked. Repeats it for about one and a half seconds while the connection breaks or the server gives the
 * transaction up. After a commit without an answer, the next try waits for the lock and then sees whether it was kept: `work` must notice
 * that, for example by idempotency keys.
 *
 * @param maybeKept true when an earlier try may have been kept
 * @throws STORE_COMMIT_UNKNOWN when this cannot be found out, the errors of `work`, and errors of the server
 */
export async function withLockedNamespace<Result>(
  {
    source,
    sql,
    place,
    rowLevelSecurity,
    sharded,
    schema,
    nodeOf,
    beforeLock,
    lasting = false,
    ...limited
  }: LockingOptions,
  namespace: string,
  work: (locked: LockedNamespace) => Promise<Result>,
  maybeKept = false,
): Promise<Result> {
  const enter = (longest?: number): string =>
    sharded ? enterShard(quoted(schema), nameId(namespace), limited, longest) : "";
  const begin = `${beginning(limited)}${rowLevelSecurity ? nameScope(nameId(namespace)) : ""}${enter()}`;
  let unknown = maybeKept;
  let giveUpAt = Number.POSITIVE_INFINITY;
  for (let attempt = 0; ; attempt++) {
    let committing = false;
    try {
      const locked = (rows: readonly Row[]): NamespaceRow | undefined => {
        const row = sql.lockedHead(rows);
        if (row && row.isSharded !== sharded) throw layoutChanged(place);
        return row;
      };
      const tryOnce = (connection: Connection): Promise<Result> =>
        inTransaction(connection, beforeLock ? begin : `${begin}${sql.lockHead(namespace)}`, async (rows, commit) => {
          await beforeLock?.(connection);
          return work({
            connection,
            row: locked(beforeLock ? await connection.script(sql.lockHead(namespace)) : rows),
            isSharded: sharded,
            async create() {
              for (;;) {
                await sql.addNamespace(connection, namespace);
                const row = locked(await connection.script(sql.lockHead(namespace)));
                // Another process may have erased it in between.
                if (row) return row;
              }
            },
            timed: (statements) => timed(connection, limited, enter, statements),
            async commit() {
              const askedAt = performance.now();
              committing = true;
              await commit();
              committing = false;
              return askedAt;
            },
          });
        });
      const node = sharded ? await nodeOf(nameId(namespace)) : undefined;
      return await source.use(tryOnce, { lasting, node });
    } catch (error) {
      const doubtful = committing && isInDoubt(error);
      unknown ||= doubtful;
      giveUpAt = Math.min(giveUpAt, performance.now() + RETRY_FOR);
      const wait = performance.now() < giveUpAt ? PAUSES[attempt] : undefined;
      if (wait !== undefined && (doubtful || isConnectionLoss(error) || isTransient(error))) {
        // A random pause, so that several clients do not retry together.
        await pause(wait * (0.5 + Math.random()));
        continue;
      }
      throw unknown ? commitUnknown(error, place) : toStoreError(error, place);
    }
  }
}

/** Statements that begin the transaction, in one round trip with the lock. Its commit waits for the disk. */
function beginning(limited: Limits): string {
  return `begin isolation level read committed; ${limits(limited)} select where ${DURABLY};`;
}

async function timed(
  connection: Connection,
  limited: Limits,
  enter: (longest?: number) => string,
  work: () => Promise<void>,
): Promise<void> {
  await connection.script(`${statementLimit(LONG_STATEMENT)} ${enter(LONG_STATEMENT)}`);
  connection.allowSilence(LONG_STATEMENT);
  try {
    await work();
  } finally {
    connection.allowSilence(usualSilence(limited));
  }
  await connection.script(`${statementLimit(limited.statementTimeout)} ${enter()}`);
}

/** Statement that names the transaction's namespace for row-level security; `*` shows all names. */
export function nameScope(id: string): string {
  return `select set_config('qavr.namespace', '${id}', true);`;
}
