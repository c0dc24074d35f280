import { nameToBytes } from "@qavr/core";
import type { Pool } from "pg";
import { nameId } from "../../src/tables/name-id.js";
import { MIGRATIONS } from "../../src/tables/schema.js";
import { tally } from "./counting.js";

/** Tables as the first schema had them, with the namespaces `n` and `m` of `count` counted entries each. */
export async function firstSchemaLedger(
  pool: Pool,
  schema: string,
  count: number,
  {
    partitions = 2,
    rowLevelSecurity = false,
  }: { readonly partitions?: number; readonly rowLevelSecurity?: boolean } = {},
): Promise<void> {
  await pool.query(`create schema if not exists ${schema}`);
  await pool.query(MIGRATIONS[0]?.sql({ schema, partitions, rowLevelSecurity }) as string);
  await pool.query(`update ${schema}.ledger set version = 1`);
  for (const name of ["n", "m"]) {
    const id = nameId(name);
    const entries = Array.from({ length: count }, (_, i) => ({ ...tally(`k${i}`), seq: i + 1 }));
    const columns = [
      entries.map(({ seq }) => seq),
      entries.map(({ key }) => Buffer.from(nameToBytes(key))),
      entries.map(({ type }) => Buffer.from(nameToBytes(type))),
      entries.map(({ at }) => at),
      entries.map(({ payload }) => Buffer.from(payload)),
    ];
    const [stats, counted] = [nameId("stats"), Buffer.from(String(count))];
    await pool.query(`insert into ${schema}.namespace values ($1, $2, $3, 1)`, [id, Buffer.from(name), count]);
    await pool.query(
      `insert into ${schema}.entry
       select $1, * from unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::double precision[], $6::bytea[])`,
      [id, ...columns],
    );
    await pool.query(`insert into ${schema}.state values ($1, $2, $3, $4)`, [id, stats, Buffer.from("count"), counted]);
  }
}
