import type { Connection, Connections } from "./connections.js";
import { quoted, quotedText } from "./quoting.js";

/** ms */
const TIMEOUT = 3_600_000;

/**
 * Builds the indexes of a schema again. Writers wait meanwhile. Only for its owner: of anybody else nothing is done, since the
 * indexes are the owner's to keep.
 */
export async function rebuildIndexes(source: Connections, schema: string): Promise<void> {
  await source.use(async (connection) => {
    const [owner] = await connection.script(
      `select pg_has_role(nspowner, 'usage')::int as mine from pg_catalog.pg_namespace where nspname = ${quotedText(schema)}`,
    );
    if (owner?.mine === 1) await withTime(connection, () => connection.script(`reindex schema ${quoted(schema)}`));
  }, TIMEOUT);
}

/** It cannot run inside a transaction, so the setting is the session's. */
async function withTime(connection: Connection, work: () => Promise<unknown>): Promise<void> {
  await connection.script(`set statement_timeout = ${TIMEOUT}`);
  try {
    await work();
  } finally {
    await connection.script("reset statement_timeout").catch(() => connection.discard());
  }
}
