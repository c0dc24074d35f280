import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { Pool } from "pg";
import type { CheckResult, Harness } from "./check.js";
import { rewritingPool, withoutWaiting } from "./rewriting-pool.js";
import { NAMESPACE } from "./tallies.js";
import { type Survival, survivalOf, survivalResults, Writers } from "./writers.js";

const KILLS = { quick: 2, full: 100 } as const;
/** Acknowledgements that come before the next kill. */
const BETWEEN = 10;

/** Kills the whole server again and again while outcomes are recorded. */
async function killServer(kills: number, settings: Readonly<Record<string, string>>, hasty = false): Promise<Survival> {
  await using server = await startServer({ settings });
  const pool = new Pool({ connectionString: server.url() });
  pool.on("error", () => {});
  try {
    const open = (): Store => postgresStore(hasty ? { pool: rewritingPool(pool, withoutWaiting) } : server.url());
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
  }
}

export const serverKills: Harness = {
  name: "database server kills",
  async run(size): Promise<readonly CheckResult[]> {
    const survival = await killServer(KILLS[size], { fsync: size === "full" ? "on" : "off" });
    const mutant = await killServer(1, { fsync: "off", synchronous_commit: "off", wal_writer_delay: "10s" }, true);
    return survivalResults(
      survival,
      {
        what: "SIGKILL to every process of the database server while outcomes are recorded (PostgreSQL)",
        times: `${KILLS[size]} kills`,
        least: BETWEEN * KILLS[size] + 1,
      },
      { what: "commits do not wait for the server's disk", times: "1 kills", lost: mutant.lost },
    );
  },
};
