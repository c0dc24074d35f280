import type { Connections } from "../connection/connections.js";
import { inTransaction, type Limits, LONG_STATEMENT, limits } from "../connection/transaction.js";
import { quoted, quotedText } from "./quoting.js";

/**
 * Builds the indexes of a schema again, one table at a time, in whose transaction its writers wait. Only for the owner of the tables:
 * of anybody else nothing is done, since the indexes are the owner's to keep.
 */
export async function rebuildIndexes(
  source: Connections,
  { schema, ...limited }: Limits & { readonly schema: string },
): Promise<void> {
  // Tables with partitions store nothing themselves, and cannot be built again inside a transaction.
  const tables = await source.use((connection) =>
    connection.script(
      `select relname::text as name from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
       where nspname = ${quotedText(schema)} and relkind = 'r' and pg_has_role(relowner, 'usage') order by relname`,
    ),
  );
  for (const { name } of tables) {
    const table = `${quoted(schema)}.${quoted(name as string)}`;
    await source.use(
      (connection) =>
        inTransaction(connection, `begin; ${limits(limited, LONG_STATEMENT)}`, async (_, commit) => {
          await connection.script(`reindex table ${table}`);
          await commit();
        }),
      { timeout: LONG_STATEMENT, lasting: true },
    );
  }
}
