import type { Pool } from "pg";
import { type PostgresStoreOptions, postgresStore } from "../../src/index.js";
import { KEPT_TABLES } from "../../src/tables/checkpoint-sql.js";

/** Ledgers of one test file. */
export interface Ledgers {
  /** Schema of an empty ledger. */
  ledger(): Promise<string>;
  /** Empties a ledger, which is used again. All stores on it are closed. */
  giveBack(schema: string): Promise<void>;
}

/** Ledgers that are used again and again: creating and dropping tables takes longer than most cases. */
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
      // Truncating takes far longer where there are few rows.
      await pool.query(["namespace", ...KEPT_TABLES].map((table) => `delete from ${schema}.${table}`).join("; "));
      idle.push(schema);
    },
  };
}
