import { setTimeout as pause } from "node:timers/promises";
import { postgresStore } from "@qavr/postgres";
import { cuttingProxy, type PostgresServer, startServer } from "@qavr/postgres-server";
import type { CheckResult, Harness } from "./check.js";
import { onServer, until } from "./database.js";
import { NAMESPACE } from "./tallies.js";
import { type Survival, survivalOf, survivalResults, together, Writers } from "./writers.js";

const FAILOVERS = { quick: 1, full: 20 } as const;
/** Acknowledgements before and after the failover. */
const BETWEEN = 20;
/** How long the replica hears nothing before its primary dies, in ms. */
const SILENCE = 100;

type Replication = "synchronous" | "asynchronous";

/** Has commits wait for the replica, if that is asked for, and waits until it follows. */
export async function follow(primary: PostgresServer, replication: Replication): Promise<void> {
  await onServer(primary.url(), async (client) => {
    if (replication === "synchronous") {
      await client.query("alter system set synchronous_standby_names = '*'");
      await client.query("select pg_reload_conf()");
    }
    await until(async () => {
      const { rows } = await client.query("select state, sync_state from pg_stat_replication");
      return rows[0]?.state === "streaming" && (replication === "asynchronous" || rows[0].sync_state === "sync");
    });
  });
}

/** Cuts a replica off, kills its primary while outcomes are recorded, promotes the replica and goes on with it. */
async function failOver(replication: Replication): Promise<Survival> {
  await using primary = await startServer({ settings: { fsync: "off" } });
  await using replicaSees = await cuttingProxy(primary.port);
  await using applicationSees = await cuttingProxy(primary.port);
  await using replica = await primary.startReplica({ through: replicaSees.port });
  await follow(primary, replication);
  const store = postgresStore(applicationSees.url(primary.url()));
  await store.head(NAMESPACE);
  const writers = new Writers(store);
  await writers.acknowledge(BETWEEN);
  replicaSees.block(true);
  // Without the replica nothing is acknowledged, unless replication is asynchronous.
  await (replication === "synchronous" ? pause(SILENCE) : writers.acknowledge(BETWEEN));
  await primary.kill();
  await onServer(replica.url(), (client) => client.query("select pg_promote()"));
  applicationSees.redirect(replica.port);
  await writers.acknowledge(BETWEEN);
  await writers.finish();
  await store.close();
  const promoted = postgresStore(replica.url());
  const survival = await survivalOf(writers, promoted);
  await promoted.close();
  return survival;
}

export const promotion: Harness = {
  name: "promotion of a replica",
  async run(size): Promise<readonly CheckResult[]> {
    const all: Survival[] = [];
    while (all.length < FAILOVERS[size]) all.push(await failOver("synchronous"));
    const mutant = await failOver("asynchronous");
    return survivalResults(
      together(all),
      {
        what: "primary server killed, synchronous replica promoted, the store's address moved to it (PostgreSQL)",
        times: `${FAILOVERS[size]} failovers`,
        least: 2 * BETWEEN * FAILOVERS[size],
      },
      { what: "asynchronous replication", times: "1 failovers", lost: mutant.lost },
    );
  },
};
