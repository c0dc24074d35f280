import { readFileSync } from "node:fs";
import { createEngine, type Engine, type Store } from "@qavr/core";
import { type PgClient, postgresStore } from "@qavr/postgres";
import { type PostgresServer, startServer } from "@qavr/postgres-server";
import { Client, Pool } from "pg";
import { steadyClock } from "./tenants.js";

/** Settings of the servers: no work in the background, so that all counted work belongs to the outcomes. */
export const SETTINGS: Readonly<Record<string, string>> = {
  autovacuum: "off",
  checkpoint_timeout: "1h",
  max_wal_size: "64GB",
};

export const SCHEMA = "qavr";
/** More connections than any number of clients that is measured. */
const CONNECTIONS = 20;

/** Requests of all stores of a plant so far. */
export interface Asked {
  /** Messages that waited for an answer. */
  roundTrips: number;
  /** States that rankings asked for. */
  states: number;
}

/** A connection to a server, and what the server has done so far. */
export interface Watched {
  readonly client: Client;
  /** CPU time of all of the server's processes so far, µs; processes that have ended count in steps of 10 ms. Linux only. */
  cpu(): number;
  /** Bytes of the server's log (WAL) so far. */
  log(): Promise<number>;
  end(): Promise<void>;
}

/** A PostgreSQL server of its own, with a connection that watches it and stores that count their requests. */
export interface Plant extends Omit<Watched, "end"> {
  readonly asked: Readonly<Asked>;
  /** An engine without any cached state, as in a process that has just started. Never closed: the connections are shared. */
  engine(): Engine;
  store(): Store;
  close(): Promise<void>;
}

export async function watch(server: PostgresServer): Promise<Watched> {
  const client = new Client(server.url());
  await client.connect();
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const main = statOf(rows[0].pid as number).parent;
  return {
    client,
    cpu() {
      const living = [main, ...childrenOf(main)].map(timeOf);
      return living.reduce((sum, spent) => sum + spent, TICK * statOf(main).ended);
    },
    async log() {
      const found = await client.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes");
      return found.rows[0].bytes as number;
    },
    end: () => client.end(),
  };
}

/** @param settings of the server, on top of {@link SETTINGS} */
export async function openPlant(settings: Readonly<Record<string, string>> = {}): Promise<Plant> {
  const server = await startServer({ settings: { ...SETTINGS, ...settings } });
  const { end, ...watched } = await watch(server);
  // Connections that are still closing report that the server stops.
  const pool = new Pool({ connectionString: server.url(), max: CONNECTIONS }).on("error", () => {});
  const asked: Asked = { roundTrips: 0, states: 0 };
  const counting = { connect: async () => counted(await pool.connect(), asked) };
  const store = (): Store => postgresStore({ pool: counting, schema: SCHEMA, writers: CONNECTIONS });
  return {
    ...watched,
    asked,
    store,
    // A busy machine must not make rankings fail open: they would do less work than is counted.
    engine: () => createEngine({ store: store(), clock: steadyClock(), readTimeout: 60_000, writeTimeout: 60_000 }),
    async close() {
      await pool.end();
      await end();
      await server.stop();
    },
  };
}

/** A connection that counts the requests that go through it. */
export function counted(client: PgClient, asked: Asked): PgClient {
  return {
    query(query) {
      const { text, values } = query;
      asked.roundTrips += 1;
      // Both statements that read states by their ids have the ids last; a commit's also names the scopes.
      if (text.includes("with ordinality") && !text.includes("$2::uuid[]")) {
        asked.states += (values?.at(-1) as readonly unknown[] | undefined)?.length ?? 0;
      }
      return client.query(query);
    },
    release: (destroy) => client.release(destroy),
    on: (event, listener) => client.on(event, listener),
    removeListener: (event, listener) => client.removeListener(event, listener),
    ref: () => client.ref?.(),
    unref: () => client.unref?.(),
  };
}

/** The kernel's unit of CPU time, µs: 100 per second on every Linux. */
const TICK = 10_000;

/** Parent and CPU time of ended children, from the fields after the program's name (`man 5 proc`). */
function statOf(pid: number): { readonly parent: number; readonly ended: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [parent = 0, endedUser = 0, endedSystem = 0] = [fields[1], fields[13], fields[14]];
  return { parent, ended: endedUser + endedSystem };
}

/** CPU time of a process, µs; 0 for one that has ended. */
function timeOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}
