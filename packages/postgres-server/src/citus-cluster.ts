import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { serverUser } from "./binaries.js";
import { PACKED_CITUS } from "./has-citus.js";
import { madeOnce } from "./made-once.js";
import { type Installation, type PostgresServer, type ServerOptions, startFrom } from "./postgres-server.js";

/** A Citus cluster on this machine. Connections need no password. Gone, with its data, when it is stopped or this process ends. */
export interface CitusCluster extends AsyncDisposable {
  readonly coordinator: PostgresServer;
  readonly workers: readonly PostgresServer[];
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** @default 2 */
  readonly workers?: number;
  /** Settings of every node. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Starts a coordinator and its workers. Their programs are in the folder that the variable `QAVR_CITUS_BIN` names, else in
 * `../shared/citus` beside the checkout.
 */
export async function startCluster({ workers = 2, settings }: ClusterOptions): Promise<CitusCluster> {
  const folder = await programs();
  const installation = installed(folder);
  const nodes: PostgresServer[] = [];
  const stop = async (): Promise<void> => {
    for (const node of nodes.splice(0)) await node.stop();
  };
  const run = (sql: string, on: PostgresServer): void => {
    const given = ["-qAtX", "-v", "ON_ERROR_STOP=1", "-d", on.url(), "-c", sql];
    const { status, stderr } = spawnSync(join(folder, "psql"), given, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${sql} failed: ${stderr}`);
  };
  try {
    const start = async (): Promise<void> => {
      const node = await startFrom(installation, { ...CLUSTER_SETTINGS, ...settings });
      nodes.push(node);
      run("create extension citus", node);
    };
    // The first one makes the data that the others copy.
    await start();
    await Promise.all(Array.from({ length: workers }, start));
    const [coordinator, ...others] = nodes as [PostgresServer, ...PostgresServer[]];
    run(`select citus_set_coordinator_host('localhost', ${coordinator.port})`, coordinator);
    for (const { port } of others) run(`select citus_add_node('localhost', ${port})`, coordinator);
    return { coordinator, workers: others, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a server of the cluster's programs by itself, without Citus: PostgreSQL is older there. */
export async function startOlderServer({ settings = {} }: ServerOptions = {}): Promise<PostgresServer> {
  return startFrom(installed(await programs()), settings);
}

function installed(folder: string): Installation {
  const binaries = { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
  return { binaries, user: serverUser(), template: "data-citus", auth: "trust" };
}

const CLUSTER_SETTINGS = {
  shared_preload_libraries: "citus",
  "citus.enable_statistics_collection": "off",
  "citus.node_conninfo": "sslmode=disable",
  // Moving shards and committing on several nodes need them.
  wal_level: "logical",
  max_prepared_transactions: "200",
  max_connections: "200",
  // By default, rebalancing waits up to five seconds before it begins, and again before it copies each shard.
  "citus.background_task_queue_interval": "100ms",
  wal_retrieve_retry_interval: "100ms",
};

/** Folder of the programs. */
async function programs(): Promise<string> {
  const named = process.env.QAVR_CITUS_BIN;
  if (named !== undefined) return named;
  const unpacked = await madeOnce("citus", async (folder) => {
    const { status, stderr } = spawnSync(
      "sh",
      ["-c", 'mkdir "$1" && tar -xJf "$2" -C "$1"', "sh", folder, PACKED_CITUS],
      {
        encoding: "utf8",
      },
    );
    if (status !== 0) throw new Error(`Unpacking ${PACKED_CITUS} failed: ${stderr}`);
  });
  return join(unpacked, "usr/lib/postgresql/15/bin");
}
