import type { Pool } from "pg";
import { type PostgresStoreOptions, postgresStore } from "../../src/index.js";
import { KEPT_TABLES } from "../../src/tables/checkpoint-sql.js";

/** Rows of a large case. */
const MANY = 500;

/** Ledgers of one test file. */
export interface Ledgers {
  /** Schema of an empty ledger. */
  ledger(): Promise<string>;
  /** Empties a ledger, which is used again. All stores on it are closed. */
  giveBack(schema: string): Promise<void>;
}

/**
 * Ledgers that are used again and again: creating and dropping tables takes longer than most cases. For servers that do not vacuum by
 * themselves: statistics of an emptied table make statements about many rows slow.
 */
export function ledgers(pool: Pool, options: Omit<PostgresStoreOptions, "pool" | "connectionString">): Ledgers {
  const idle: string[] = [];
  let created = 0;
  return {
    async ledger() {
      const used = idle.pop();
      if (used !== undefined) return used;
      const schema = `ledger_${++created}`;
      const store = postgresStore({ ...options, pool, schema });
      await store.head("n");
      await store.close();
      return schema;
    },
    async giveBack(schema) {
      const tables = ["namespace", ...KEPT_TABLES].map((table) => `${schema}.${table}`);
      const answers = await pool.query(tables.map((table) => `delete from ${table}`).join("; "));
      const deleted = [answers].flat().reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
      // Takes far longer than deleting a few rows. Many deleted rows would slow the next case down.
      if (deleted > MANY) await pool.query(`truncate ${tables.join(", ")}`);
      idle.push(schema);
    },
  };
}
