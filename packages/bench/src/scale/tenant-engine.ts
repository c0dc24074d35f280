import { createEngine, type Engine, type Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { Pool } from "pg";
import { type Asked, countedPool } from "./counted-pool.js";
import { steadyClock } from "./tenants.js";

/** Connections that stay open while engines come and go: what a connection has prepared is not prepared again. */
export interface ServerPool {
  readonly asked: Asked;
  /** An engine that knows nothing yet, as in a process that has just started. Never to be closed: the pool is shared. */
  engine(): Engine;
  store(): Store;
  /** Ends all sessions; whoever comes next opens new ones. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

/** More than any number of clients that is measured. */
const CONNECTIONS = 20;

export function openPool(url: string, schema: string): ServerPool {
  const open = (): Pool => new Pool({ connectionString: url, max: CONNECTIONS }).on("error", () => {});
  let current = open();
  const { pool, asked } = countedPool({ connect: () => current.connect() });
  const store = (): Store => postgresStore({ pool, schema, writers: CONNECTIONS });
  return {
    asked,
    store,
    // A busy machine must not turn rankings into degraded ones: nothing would be measured of those.
    engine: () => createEngine({ store: store(), clock: steadyClock(), readDeadline: 60_000, writeDeadline: 60_000 }),
    async reconnect() {
      const last = current;
      current = open();
      await last.end();
    },
    close: () => current.end(),
  };
}
