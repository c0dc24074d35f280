import { type CitusCluster, startCluster } from "@qavr/postgres-server";
import { Pool } from "pg";
import { afterAll } from "vitest";
import { type Ledgers, ledgers } from "./ledgers.js";

/** The cluster of one test file, with a coordinator and two workers. Its ledgers are distributed. */
export interface TestCluster extends CitusCluster, Ledgers {
  /** A pool on the coordinator. */
  readonly pool: Pool;
  /** A pool on each worker. */
  readonly workerPools: readonly Pool[];
  /** URL that names the coordinator and the workers. */
  readonly url: string;
}

/** Starts a cluster for this test file, and stops it after the last test. */
export async function testCluster(): Promise<TestCluster> {
  const cluster = await startCluster({ settings: { fsync: "off", autovacuum: "off" } });
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
  return {
    ...cluster,
    ...ledgers(pool, { shards: 4 }),
    pool,
    workerPools,
    url: coordinator
      .url()
      .replace(/:\d+\//, () => `:${coordinator.port}${workers.map((worker) => `,localhost:${worker.port}`).join("")}/`),
  };
}
