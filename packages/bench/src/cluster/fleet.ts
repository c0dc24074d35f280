import { createEngine, type Engine, type Store } from "@qavr/core";
import { rendezvous, routedStore } from "@qavr/core/store";
import { distributeLedger, type PgPool, postgresStore } from "@qavr/postgres";
import { type PostgresServer, startCluster, startOlderServer } from "@qavr/postgres-server";
import { Pool } from "pg";
import { totalBytes } from "../scale/disk.js";
import { fillTenants } from "../scale/fill.js";
import { type Asked, counted, SCHEMA, SETTINGS, type Watched, watch } from "../scale/plant.js";
import { steadyClock } from "../scale/tenants.js";

/** Ways to the rows of a namespace. */
export const WAYS = ["plain", "routed", "own", "turn", "coordinator"] as const;
export type Way = (typeof WAYS)[number];
/** Those of a cluster. */
export type ClusterWay = Exclude<Way, "plain" | "routed">;

/** Shards of the cluster's tables. */
export const SHARDS = 32;
/** More connections than any number of clients that is measured. */
const CONNECTIONS = 60;

/** Several servers with the same tenants, and their costs. */
export interface Fleet {
  readonly nodes: readonly Watched[];
  /** Requests to the servers so far; those of the way `own` are not counted. */
  readonly asked: Readonly<Asked>;
  /** An engine without any cached state, as in a process that has just started. `close` leaves the servers running. */
  engine(way: Way): Engine;
  /** A store that goes to a node alone, through a pool that may be watched. */
  storeAt(node: number, watched?: (pool: Pool) => void): { readonly store: Store; end(): Promise<void> };
  /** Bytes of all tables with their indexes. */
  bytes(): Promise<number>;
  close(): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

/** One or several plain servers; all have all tenants. */
export async function plainFleet(servers: number, tenants: number, settings: Settings = {}): Promise<Fleet> {
  const started: PostgresServer[] = [];
  for (let server = 0; server < servers; server++) {
    started.push(await startOlderServer({ settings: { ...SETTINGS, ...settings } }));
  }
  const fleet = await fleetOf(started, async () => {
    for (const server of started) await server.stop();
  });
  for (const node of fleet.nodes.keys()) await fill(fleet, node, tenants);
  return fleet;
}

/** A coordinator and its workers. The tenants are written to plain tables, which are then turned over. */
export async function clusterFleet(workers: number, tenants: number, settings: Settings = {}): Promise<Fleet> {
  const cluster = await startCluster({ workers, settings: { ...SETTINGS, ...settings } });
  const fleet = await fleetOf([cluster.coordinator, ...cluster.workers], () => cluster.stop());
  await fill(fleet, 0, tenants);
  await distributeLedger({ connectionString: cluster.coordinator.url(), schema: SCHEMA, shards: SHARDS });
  await Promise.all(
    fleet.nodes.map(async ({ client }) => {
      // Shards count as tables of their node.
      await client.query("set citus.override_table_visibility = off");
      await settle(client);
    }),
  );
  return fleet;
}

async function fleetOf(servers: readonly PostgresServer[], stop: () => Promise<void>): Promise<Fleet> {
  const nodes = await Promise.all(servers.map(watch));
  const pools = servers.map((server) => poolOf(server.url()));
  const asked: Asked = { roundTrips: 0, states: 0 };
  const opened = (pool: PgPool): Store => {
    const counting = { connect: async () => counted(await pool.connect(), asked) };
    return postgresStore({ pool: counting, schema: SCHEMA, writers: CONNECTIONS });
  };
  const stores: Readonly<Record<Way, () => Store>> = {
    plain: () => opened(pools[0] as PgPool),
    routed() {
      const names = pools.map((_, place) => `server-${place}`);
      return routedStore({
        stores: Object.fromEntries(names.map((name, place) => [name, opened(pools[place] as PgPool)])),
        by: rendezvous(names),
      });
    },
    own: () =>
      postgresStore({
        connectionString: urlOf(servers),
        schema: SCHEMA,
        writers: CONNECTIONS,
        maxConnections: CONNECTIONS,
      }),
    turn() {
      let turn = 0;
      const workers = pools.slice(1);
      return opened({ connect: () => (workers[turn++ % workers.length] as Pool).connect() });
    },
    coordinator: () => opened(pools[0] as PgPool),
  };
  return {
    nodes,
    asked,
    // A busy machine must not make rankings fail open: they would do less work than is counted.
    engine: (way) =>
      createEngine({ store: stores[way](), clock: steadyClock(), readTimeout: 60_000, writeTimeout: 60_000 }),
    storeAt(node, watched = () => {}) {
      const pool = poolOf((servers[node] as PostgresServer).url());
      watched(pool);
      const store = opened(pool);
      return {
        store,
        async end() {
          await store.close();
          await pool.end();
        },
      };
    },
    async bytes() {
      let sum = 0;
      for (const { client } of nodes) sum += await totalBytes(client);
      return sum;
    },
    async close() {
      for (const pool of pools) await pool.end();
      for (const node of nodes) await node.end();
      await stop();
    },
  };
}

function poolOf(connectionString: string): Pool {
  // Connections that are still closing report that the server stops.
  return new Pool({ connectionString, max: CONNECTIONS }).on("error", () => {});
}

/** One URL that names all servers. */
function urlOf([first, ...others]: readonly PostgresServer[]): string {
  const more = others.map(({ port }) => `,localhost:${port}`).join("");
  return (first as PostgresServer).url().replace(/:(\d+)\//, (_, port) => `:${port}${more}/`);
}

async function fill(fleet: Fleet, node: number, tenants: number): Promise<void> {
  const { client } = fleet.nodes[node] as Watched;
  const { store, end } = fleet.storeAt(node);
  await fillTenants(store, client, { from: 0, to: tenants });
  await end();
  await settle(client);
}

async function settle(client: Watched["client"]): Promise<void> {
  await client.query("vacuum (freeze, analyze)");
  await client.query("checkpoint");
}
