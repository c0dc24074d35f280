import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@qavr/core";
import { type PgPool, postgresStore } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { Pool } from "pg";
import type { CheckResult, Harness } from "./check.js";
import { NAMESPACE } from "./tallies.js";
import { type Survival, survivalOf, Writers } from "./writers.js";

const KILLS = { quick: 3, full: 100 } as const;
/** Acknowledgements that come before the next kill. */
const BETWEEN = 10;

/** Lets every session of a pool commit without waiting for the disk, whatever the store asks for. */
function withoutWaiting(pool: Pool): PgPool {
  return {
    async connect() {
      const client = await pool.connect();
      return {
        query: (sent) => client.query({ ...sent, text: sent.text.replace("'synchronous_commit', 'on'", "'x.y', ''") }),
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event as "error", listener),
        removeListener: (event, listener) => client.removeListener(event as "error", listener),
      };
    },
  };
}

/** Kills the whole server again and again while outcomes are recorded. */
async function killServer(kills: number, settings: Readonly<Record<string, string>>, hasty = false): Promise<Survival> {
  const server = await startServer({ settings });
  const pool = new Pool({ connectionString: server.url() });
  pool.on("error", () => {});
  try {
    const open = (): Store => postgresStore(hasty ? { pool: withoutWaiting(pool) } : server.url());
    const store = open();
    await store.head(NAMESPACE);
    // The tables shall outlive the first kill also where nothing else does.
    await pool.query("checkpoint");
    const writers = new Writers(store);
    for (let kill = 0; kill < kills; kill++) {
      await writers.acknowledge(BETWEEN);
      // Somewhere within the next commits.
      await pause((kill * 7) % 23);
      await server.kill();
      await server.restart();
    }
    await writers.finish();
    await store.close();
    const after = open();
    const survival = await survivalOf(writers, after);
    await after.close();
    return survival;
  } finally {
    await pool.end();
    await server.stop();
  }
}

export const serverKills: Harness = {
  name: "database server kills",
  async run(size): Promise<readonly CheckResult[]> {
    const { acknowledged, refused, lost, doubled } = await killServer(KILLS[size], {
      fsync: size === "full" ? "on" : "off",
    });
    const mutant = await killServer(1, { fsync: "off", synchronous_commit: "off", wal_writer_delay: "10s" }, true);
    return [
      {
        promise: "R1",
        what: "SIGKILL to every process of the database server while outcomes are recorded (PostgreSQL)",
        tried: `${KILLS[size]} kills, ${acknowledged} acknowledged outcomes, ${refused} calls refused and repeated`,
        seen: `${lost} lost, ${doubled} counted twice`,
        held: lost === 0 && doubled === 0 && acknowledged > BETWEEN * KILLS[size],
      },
      {
        promise: "R25",
        what: "mutant: commits do not wait for the server's disk",
        tried: "1 kills",
        seen: `${mutant.lost} lost outcomes seen`,
        held: mutant.lost > 0,
        mutant: true,
      },
    ];
  },
};
