import type { Pool } from "pg";
import { KEPT_TABLES } from "../../src/tables/checkpoint-sql.js";

const TABLES = ["namespace", ...KEPT_TABLES];

/** Copies the tables of a ledger, and returns what puts the copies back in their place, as restoring a backup does. */
export async function remember(pool: Pool, schema: string): Promise<() => Promise<void>> {
  const copy = `${schema}_copy`;
  const copying = TABLES.map((table) => `create table ${copy}.${table} as table ${schema}.${table};`);
  const restoring = TABLES.map(
    (table) => `delete from ${schema}.${table}; insert into ${schema}.${table} table ${copy}.${table};`,
  );
  await pool.query(`create schema ${copy}; ${copying.join(" ")}`);
  return async () => {
    await pool.query(restoring.join(" "));
    await pool.query(`drop schema ${copy} cascade`);
  };
}
