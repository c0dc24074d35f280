import type { Connection, Limits, Row } from "./connections.js";
import { isConnectionLoss } from "./postgres-errors.js";

/** Timeout of a statement about all rows of a namespace or of a table, ms. */
export const LONG_STATEMENT = 3_600_000;

/**
 * Statements that set the limits of a transaction. A stopped process must not keep its locks or its snapshot: the server ends a session
 * that is silent for as long as a statement may usually take.
 *
 * @param longest timeout of the statements of this transaction, ms
 */
export function limits({ lockTimeout, statementTimeout }: Limits, longest: number = statementTimeout): string {
  return `set local lock_timeout = ${lockTimeout}; ${statementLimit(longest)}
    set local idle_in_transaction_session_timeout = ${statementTimeout};`;
}

/** Statement that sets the timeout of the following statements of a transaction. */
export function statementLimit(timeout: number): string {
  return `set local statement_timeout = ${timeout};`;
}

/**
 * A condition that always holds, and makes the commit of its transaction wait for the disk. Each transaction needs it, since the setting
 * may change at any time, for the server or for a session. A stricter setting stays.
 */
export const DURABLY = `(select case current_setting('synchronous_commit')
  when 'off' then set_config('synchronous_commit', 'on', true) else 'as it is' end) is not null`;

/**
 * A condition that always holds, for a writing statement that is a transaction of its own. Its commit waits for the disk, and the
 * statement waits for a locked row at most `lockTimeout` ms, since sessions of an application's pool have no limit.
 */
export function onItsOwn(lockTimeout: number): string {
  return `${DURABLY} and (select set_config('lock_timeout', '${lockTimeout}', true)) is not null`;
}

/**
 * Begins a transaction and runs `work`, which may commit it. Otherwise rolls it back, and discards the connection if that fails.
 *
 * @param begin statements that begin it; `work` receives the rows of the last one
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
    // A lost connection has nothing to roll back.
    if (!isConnectionLoss(error)) await connection.script("rollback").catch(() => connection.discard());
    throw error;
  }
}
