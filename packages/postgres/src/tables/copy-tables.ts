import type { Connection } from "../connection/connections.js";
import { TABLES } from "./create-tables.js";
import { quotedText } from "./sql-text.js";

/** Of the names of tables that are filled beside those of a ledger, and then take their place. */
export const BESIDE = "next_";

/**
 * Puts the tables beside a ledger in the place of its own. The coordinator of a cluster sends other nodes the text of a statement, which
 * therefore must be one.
 *
 * @param schema quoted
 */
export async function replaceTables(connection: Connection, schema: string): Promise<void> {
  await connection.script(`drop table ${TABLES.map((table) => `${schema}.${table}`).join(", ")}`);
  for (const table of TABLES) await connection.script(`alter table ${schema}.${BESIDE}${table} rename to ${table}`);
  await connection.script(`alter index ${schema}.${BESIDE}namespace_name rename to namespace_name`);
}

/**
 * Gives the tables beside a ledger the owner and the grants of its own.
 *
 * @param schema unquoted
 */
export async function copyRights(connection: Connection, schema: string): Promise<void> {
  const found = await connection.script(`
    with named as (
      select relowner, relacl, format('%I.%I', nspname, '${BESIDE}' || relname) as beside
      from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
      where nspname = ${quotedText(schema)} and relname in (${TABLES.map((table) => `'${table}'`).join(", ")}))
    select format('grant %s on %s to %s', privilege_type, beside,
      case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end) as text
    from named, aclexplode(relacl) where grantee <> relowner
    union all select format('alter table %s owner to %I', beside, pg_get_userbyid(relowner)) from named`);
  for (const { text } of found) await connection.script(text as string);
}

/** The row of a namespace. */
interface Head {
  readonly head: number;
  /** Hexadecimal. */
  readonly digest: string;
  readonly revision: number;
  /** Differs after a compaction. */
  readonly beginning: string;
}

/** The rows of namespaces that were copied, as they were before the others of their rows were read. */
export type Copied = ReadonlyMap<string, Head>;

/**
 * Copies the rows of a ledger into the tables beside its own. They may be written to meanwhile: {@link copyChanges}
 * copies the rows that are younger than the result.
 *
 * @param schema quoted
 */
export async function copyAll(connection: Connection, schema: string): Promise<Copied> {
  const copied = await heads(connection, schema);
  for (const table of TABLES) {
    await connection.script(`insert into ${schema}.${BESIDE}${table} select * from ${schema}.${table}`);
  }
  return copied;
}

/**
 * Copies the namespaces that have changed since they were copied.
 *
 * @param schema quoted
 */
export async function copyChanges(
  connection: Connection,
  schema: string,
  copied: Copied,
): Promise<{ readonly copied: Copied; readonly changed: number }> {
  const now = await heads(connection, schema);
  const changed = [...new Set([...copied.keys(), ...now.keys()])].filter((id) => !isSame(copied.get(id), now.get(id)));
  for (const id of changed) {
    const through = await keptThrough(connection, schema, id, copied.get(id), now.get(id));
    for (const table of TABLES) {
      const rows = table === "namespace" ? `id = '${id}'` : `namespace = '${id}'`;
      const these = table === "entry" ? `${rows} and seq > ${through}` : rows;
      await connection.script(`
        delete from ${schema}.${BESIDE}${table} where ${these};
        insert into ${schema}.${BESIDE}${table} select * from ${schema}.${table} where ${these}`);
    }
  }
  return { copied: now, changed: changed.length };
}

async function heads(connection: Connection, schema: string): Promise<Copied> {
  const rows = await connection.script(`
    select id::text as id, head, encode(digest, 'hex') as digest, revision, base || encode(checkpoint_digest, 'hex') as beginning
    from ${schema}.namespace`);
  return new Map(rows.map(({ id, ...head }) => [id as string, head as unknown as Head]));
}

function isSame(a: Head | undefined, b: Head | undefined): boolean {
  return a?.revision === b?.revision && a?.digest === b?.digest && a?.beginning === b?.beginning;
}

/** The last entry that need not be copied again: 0 where the ledger was compacted or erased since. */
async function keptThrough(
  connection: Connection,
  schema: string,
  id: string,
  before: Head | undefined,
  now: Head | undefined,
): Promise<number> {
  if (!before || before.beginning !== now?.beginning) return 0;
  const same = await connection.script(`
    select 1 from ${schema}.entry
    where namespace = '${id}' and seq = ${before.head} and digest = decode('${before.digest}', 'hex')`);
  return same.length === 1 ? before.head : 0;
}
