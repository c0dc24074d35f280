import { type CitusCluster, startCluster } from "@qavr/postgres-server";
import { Pool } from "pg";
import { afterAll } from "vitest";
import { type PostgresStoreOptions, postgresStore } from "../../src/index.js";
import { KEPT_TABLES } from "../../src/tables/checkpoint-sql.js";

/** The cluster of one test file, with a coordinator and two workers. */
export interface TestCluster extends CitusCluster {
  /** A pool on the coordinator. */
  readonly pool: Pool;
  /** A pool on each worker. */
  readonly workerPools: readonly Pool[];
  /** URL that names the coordinator and the workers. */
  readonly url: string;
  /** Creates distributed tables in a schema of the test's own, and returns its name. */
  ledger(options?: Omit<PostgresStoreOptions, "pool" | "connectionString">): Promise<string>;
  /** Empties the tables of a ledger. */
  empty(schema: string): Promise<void>;
}

/** Starts a cluster for this test file, and stops it after the last test. */
export async function testCluster(): Promise<TestCluster> {
  const cluster = await startCluster({ settings: { fsync: "off" } });
  const open = (connectionString: string): Pool => {
    const pool = new Pool({ connectionString, max: 20 });
    pool.on("error", () => {});
    return pool;
  };
  const { coordinator, workers } = cluster;
  const [pool, workerPools] = [open(coordinator.url()), workers.map((worker) => open(worker.url()))];
  afterAll(async () => {
    for (const each of [pool, ...workerPools]) await each.end();
    await cluster.stop();
  });
  let schemas = 0;
  return {
    ...cluster,
    pool,
    workerPools,
    url: coordinator
      .url()
      .replace(/:\d+\//, () => `:${coordinator.port}${workers.map((worker) => `,localhost:${worker.port}`).join("")}/`),
    async ledger(options = {}) {
      const schema = `ledger_${++schemas}`;
      const store = postgresStore({ shards: 4, ...options, pool, schema });
      await store.head("n");
      await store.close();
      return schema;
    },
    empty: async (schema) => {
      const tables = ["namespace", ...KEPT_TABLES].map((table) => `${schema}.${table}`);
      await pool.query(`truncate ${tables.join(", ")}`);
    },
  };
}
