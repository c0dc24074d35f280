import { setTimeout as pause } from "node:timers/promises";
import { type Connection, type Connections, usualSilence } from "../connection/connections.js";
import { commitUnknown, isConnectionLoss, isTransient, toStoreError } from "../connection/postgres-errors.js";
import {
  DURABLY,
  inTransaction,
  type Limits,
  LONG_STATEMENT,
  limits,
  statementLimit,
} from "../connection/transaction.js";
import type { LedgerSql, NamespaceRow } from "./ledger-sql.js";
import { nameId } from "./name-id.js";

/** A transaction that holds the lock of one namespace's head. */
export interface LockedNamespace {
  readonly connection: Connection;
  /** Where the namespace stands, undefined when there is none; then nothing is locked. */
  readonly row: NamespaceRow | undefined;
  /** Locks a namespace that was not there by adding it, empty. */
  create(): Promise<NamespaceRow>;
  /**
   * Runs statements about all rows of the namespace, each of which may take as long as that takes. The time that the server waits for
   * this process stays the usual one.
   */
  patiently(work: () => Promise<void>): Promise<void>;
  /** Commits, and returns when that was asked for, ms of a steady clock. Without it everything is rolled back. */
  commit(): Promise<number>;
}

/** How namespaces are locked. */
export interface LockingOptions extends Limits {
  readonly source: Connections;
  readonly sql: LedgerSql;
  /** For messages. */
  readonly place: string;
  readonly rowLevelSecurity: boolean;
  /** Whether the work may take longer than closing waits. @default false */
  readonly lasting?: boolean;
}

/** Pauses before a transaction is tried again, in ms: long enough for a server that was restarted. */
const PAUSES = [25, 100, 400, 1_000];
/** No other try is begun later than this after the first failure, in ms: a server that does not answer takes its time with each. */
const RETRY_FOR = 3_000;

/**
 * Runs `work` with the namespace locked, again and again while the connection breaks or the server gives the transaction up, for
 * some one and a half seconds. After a commit whose answer was lost, the next try waits for the lock and then sees whether it was
 * kept: `work` must be able to tell, as it is with idempotency keys.
 *
 * @param maybeKept whether an earlier try may have been kept
 * @throws STORE_COMMIT_UNKNOWN when that cannot be found out, what `work` throws, and what the server reports
 */
export async function withLockedNamespace<Result>(
  { source, sql, place, rowLevelSecurity, lasting = false, ...limited }: LockingOptions,
  namespace: string,
  work: (locked: LockedNamespace) => Promise<Result>,
  maybeKept = false,
): Promise<Result> {
  const begin = `${beginning(limited)}${rowLevelSecurity ? nameScope(nameId(namespace)) : ""}`;
  let unknown = maybeKept;
  let giveUpAt = Number.POSITIVE_INFINITY;
  for (let attempt = 0; ; attempt++) {
    let committing = false;
    try {
      const tryOnce = (connection: Connection): Promise<Result> =>
        inTransaction(connection, `${begin}${sql.lockHead(namespace)}`, (rows, commit) =>
          work({
            connection,
            row: sql.lockedHead(rows),
            create: () => createLocked(connection, sql, namespace),
            patiently: (statements) => patiently(connection, limited, statements),
            async commit() {
              const askedAt = performance.now();
              committing = true;
              await commit();
              committing = false;
              return askedAt;
            },
          }),
        );
      return await source.use(tryOnce, { lasting });
    } catch (error) {
      const lost = isConnectionLoss(error);
      unknown ||= committing && lost;
      giveUpAt = Math.min(giveUpAt, performance.now() + RETRY_FOR);
      const wait = performance.now() < giveUpAt ? PAUSES[attempt] : undefined;
      if (wait !== undefined && (lost || isTransient(error))) {
        // Not all at the same time again.
        await pause(wait * (0.5 + Math.random()));
        continue;
      }
      throw unknown ? commitUnknown(error, place) : toStoreError(error, place);
    }
  }
}

/** One round trip together with the lock that follows. Only an acknowledgement that survives a crash is one. */
function beginning(limited: Limits): string {
  return `begin isolation level read committed; ${limits(limited)} select where ${DURABLY};`;
}

async function patiently(connection: Connection, limited: Limits, work: () => Promise<void>): Promise<void> {
  await connection.script(statementLimit(LONG_STATEMENT));
  connection.allowSilence(LONG_STATEMENT);
  try {
    await work();
  } finally {
    connection.allowSilence(usualSilence(limited));
  }
  await connection.script(statementLimit(limited.statementTimeout));
}

/** Statement that tells row-level security which namespace the transaction is about; `*` lists all names. */
export function nameScope(id: string): string {
  return `select set_config('qavr.namespace', '${id}', true);`;
}

/** Between adding and locking somebody may erase it again; then once more. */
async function createLocked(connection: Connection, sql: LedgerSql, namespace: string): Promise<NamespaceRow> {
  for (;;) {
    await sql.addNamespace(connection, namespace);
    const row = sql.lockedHead(await connection.script(sql.lockHead(namespace)));
    if (row) return row;
  }
}
