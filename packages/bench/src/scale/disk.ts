import type { Client } from "pg";
import { SCHEMA } from "./plant.js";

/** Mean bytes on the disk, indexes included. */
export interface DiskBytes {
  /** Of a namespace: its head, the state of its one collection, its counts. */
  readonly namespace: number;
  /** Of one memory's state, and its place in a list of those of like utility. */
  readonly memory: number;
  /** Of a run: its two entries and the record of its episode. */
  readonly run: number;
}

/** Names of those lists, without their collection. */
const BANDS = Array.from({ length: 32 }, (_, i) => (i + 1).toString(36));

/** Creates the function that makes an id of a name, as the store does. */
export const NAME_ID = `create or replace function pg_temp.name_id(name text) returns uuid language sql immutable
  as $$ select encode(substr(sha256(convert_to(name, 'UTF8')), 1, 16), 'hex')::uuid $$`;

/** Bytes of the schema's tables with their indexes, partitions together: `state`, `entry`, `namespace`, … */
export async function tableBytes(client: Client): Promise<Readonly<Record<string, number>>> {
  const { rows } = await client.query(
    `select regexp_replace(relname, '_\\d+$', '') as name, sum(pg_total_relation_size(oid))::float8 as bytes
     from pg_class where relnamespace = $1::regnamespace and relkind = 'r' group by 1`,
    [SCHEMA],
  );
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Bytes of all tables with their indexes. */
export async function totalBytes(client: Client): Promise<number> {
  return Object.values(await tableBytes(client)).reduce((sum, bytes) => sum + bytes, 0);
}

/** Shares each table out among its kinds of rows, by their length. A table's empty pages count too: few tenants look larger. */
export async function diskBytes(client: Client): Promise<DiskBytes> {
  await client.query(NAME_ID);
  const { rows } = await client.query(
    `
    select case when scope = pg_temp.name_id('memory:default') then 'memory' when scope = pg_temp.name_id('episode') then 'episode'
      when scope in (select pg_temp.name_id('band' || place || ':default') from unnest($1::text[]) as place) then 'band'
      else 'namespace' end as kind, count(*)::float8 as rows, sum(pg_column_size(state.*))::float8 as length
    from ${SCHEMA}.state group by 1`,
    [BANDS],
  );
  const counted = await client.query(`select (select count(*) from ${SCHEMA}.namespace)::float8 as namespaces`);
  type Kind = { readonly kind: string; readonly rows: number; readonly length: number };
  const kind = (name: string): Kind =>
    (rows as Kind[]).find((row) => row.kind === name) ?? { kind: name, rows: 0, length: 0 };
  const { state = 0, entry = 0, namespace = 0 } = await tableBytes(client);
  const length = (rows as Kind[]).reduce((sum, one) => sum + one.length, 0);
  const states = (name: string): number => (state * kind(name).length) / length;
  const { namespaces } = counted.rows[0];
  return {
    namespace: (namespace + states("namespace")) / namespaces,
    memory: (states("memory") + states("band")) / kind("memory").rows,
    run: (entry + states("episode")) / kind("episode").rows,
  };
}
