import { connections } from "./connection/connections.js";
import { toStoreError } from "./connection/postgres-errors.js";
import { type PostgresStoreOptions, resolvePostgresOptions } from "./postgres-options.js";
import { redistribute } from "./tables/schema.js";

/**
 * Distributes the tables of a ledger that exists over the nodes of a Citus cluster or, with `shards: 0`, brings them back to its
 * coordinator. Stores that are open wait meanwhile, and go on.
 *
 * @param options as of `postgresStore`, at the coordinator
 * @throws INVALID_ARGUMENT where the tables are in that state already, UNSUPPORTED at a server that is no coordinator, and as `postgresStore`
 */
export async function distributeLedger(options: PostgresStoreOptions): Promise<void> {
  const resolved = resolvePostgresOptions(options);
  const source = connections(resolved.source, resolved);
  try {
    await redistribute(source, resolved);
  } catch (error) {
    throw toStoreError(error, resolved.place);
  } finally {
    await source.close();
  }
}
