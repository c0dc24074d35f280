import type { Connection, Row } from "./connections.js";
import { isConnectionLoss } from "./postgres-errors.js";

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
