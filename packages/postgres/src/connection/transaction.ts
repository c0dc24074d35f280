import type { Connection, Row } from "./connections.js";
import { isConnectionLoss } from "./postgres-errors.js";

/** How long things may take, in ms. */
export interface Limits {
  /** Waiting for somebody else's lock. */
  readonly lockTimeout: number;
  readonly statementTimeout: number;
}

/** How long a statement may take that is about all rows of a namespace or of a table, ms. */
export const LONG_STATEMENT = 3_600_000;

/**
 * Statements that set the limits of a transaction. A process that stops in the middle must not keep its locks, nor the moment that it
 * reads: the server ends its session when it is as silent as a statement may usually be long.
 *
 * @param longest how long the statements of this transaction may take, ms
 */
export function limits({ lockTimeout, statementTimeout }: Limits, longest: number = statementTimeout): string {
  return `set local lock_timeout = ${lockTimeout}; ${statementLimit(longest)}
    set local idle_in_transaction_session_timeout = ${statementTimeout};`;
}

/** Statement that sets how long the statements of a transaction may take from here on. */
export function statementLimit(timeout: number): string {
  return `set local statement_timeout = ${timeout};`;
}

/**
 * A condition that always holds, and lets the commit of its transaction wait for the disk. Each transaction sees to that by itself: the
 * setting may be changed at any time, for the server or for a session. One that waits for more stays as it is.
 */
export const DURABLY = `(select case current_setting('synchronous_commit')
  when 'off' then set_config('synchronous_commit', 'on', true) else 'as it is' end) is not null`;

/**
 * A condition that always holds, for a statement that writes and is a transaction of its own. Its commit waits for the disk, and the
 * statement for a row that it comes to after looking at it no longer than `lockTimeout` ms: sessions of an application's pool have no
 * limit.
 */
export function onItsOwn(lockTimeout: number): string {
  return `${DURABLY} and (select set_config('lock_timeout', '${lockTimeout}', true)) is not null`;
}

/**
 * Begins a transaction and runs `work`, which may commit it. What it has not committed is rolled back; a connection on which that
 * fails is not used again.
 *
 * @param begin statements that begin it; `work` is given the rows of the last one
 */
export async function inTransaction<Result>(
  connection: Connection,
  begin: string,
  work: (rows: readonly Row[], commit: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let open = true;
  try {
    const result = await work(await connection.script(begin), async () => {
      await connection.script("commit");
      open = false;
    });
    if (open) await connection.script("rollback");
    return result;
  } catch (error) {
    // A connection that is gone, or that does not answer, has nothing to roll back any more.
    if (!isConnectionLoss(error)) await connection.script("rollback").catch(() => connection.discard());
    throw error;
  }
}
