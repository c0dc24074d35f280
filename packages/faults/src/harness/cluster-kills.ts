import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { type CitusCluster, hasCitus, type PostgresServer, startCluster } from "@qavr/postgres-server";
import { Pool } from "pg";
import type { CheckResult, Harness } from "./check.js";
import { onServer } from "./database.js";
import { rewritingPool, withoutWaiting } from "./rewriting-pool.js";
import { REPEATED, survivalOf, Writers } from "./writers.js";

const WORKER_KILLS = { quick: 2, full: 60 } as const;
const COORDINATOR_KILLS = { quick: 1, full: 20 } as const;
const NAMESPACES: readonly string[] = Array.from({ length: 12 }, (_, n) => `tenant:${n}`);
/** How long a node is away, in ms; afterwards its namespaces are expected to go on. */
const AWAY = 1_500;
/** The end of that time, in which namespaces are counted as going on. In ms. */
const COUNTED = 800;

/** Outcomes of a cluster whose nodes come and go. */
interface Outcome {
  readonly acknowledged: number;
  readonly refused: number;
  readonly lost: number;
  readonly doubled: number;
  readonly damaged: number;
  /** Namespaces of nodes that were alive, and those of them that went on, over all kills. */
  readonly alive: number;
  readonly wentOn: number;
  /** Of a writer of a namespace whose node was alive, ms. */
  readonly longestWait: number;
}

/** What is killed, and how the writers reach the cluster. */
interface Attack {
  readonly kills: number;
  readonly target: "worker" | "coordinator";
  open(cluster: CitusCluster): { readonly store: Store; end(): Promise<void> };
  /** Changes the cluster before anything is written. */
  prepare?(cluster: CitusCluster): Promise<void>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly repeated?: readonly string[];
}

async function attack({ kills, target, open, prepare, settings = {}, repeated = REPEATED }: Attack): Promise<Outcome> {
  const cluster = await startCluster({ settings: { fsync: "off", ...settings } });
  const { coordinator, workers } = cluster;
  const first = postgresStore({ connectionString: coordinator.url(), shards: 8 });
  try {
    await first.head("n");
    await prepare?.(cluster);
    const homes = await homesIn(cluster);
    const { store, end } = open(cluster);
    const writers = NAMESPACES.map((namespace) => new Writers(store, { namespace, writers: 1, repeated }));
    const acknowledgeInAll = (more: number): Promise<unknown> =>
      Promise.all(writers.map((each) => each.acknowledge(more)));
    await acknowledgeInAll(3);
    let [alive, wentOn, longestWait] = [0, 0, 0];
    for (let kill = 0; kill < kills; kill++) {
      const node = target === "coordinator" ? coordinator : (workers[kill % workers.length] as PostgresServer);
      const others = writers.filter(({ namespace }) => homes.get(namespace) !== node.port);
      // Somewhere within the next commits.
      await pause((kill * 7) % 23);
      for (const each of others) each.longestWait = 0;
      await node.kill();
      await pause(AWAY - COUNTED);
      const before = others.map(({ acknowledged }) => acknowledged.size);
      await pause(COUNTED);
      alive += others.length;
      wentOn += others.filter(({ acknowledged }, i) => acknowledged.size > (before[i] as number)).length;
      longestWait = Math.max(longestWait, ...others.map((each) => each.longestWait));
      await node.restart();
      await acknowledgeInAll(1);
    }
    for (const each of writers) await each.finish();
    await end();
    const total = { acknowledged: 0, refused: 0, lost: 0, doubled: 0 };
    for (const each of writers) {
      const survival = await survivalOf(each, first);
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += survival[name];
    }
    const { damaged } = await first.verify();
    return { ...total, damaged, alive, wentOn, longestWait };
  } finally {
    await first.close();
    await cluster.stop();
  }
}

/** Port of the worker that has the rows of each namespace. */
function homesIn({ coordinator }: CitusCluster): Promise<Map<string, number>> {
  return onServer(coordinator.url(), async (client) => {
    const { rows } = await client.query(
      `select name, nodeport::int from unnest($1::text[]) as name join pg_dist_shard_placement on shardid =
        get_shard_id_for_distribution_column('qavr.namespace', substring(encode(sha256(name::bytea), 'hex') for 32)::uuid)`,
      [NAMESPACES],
    );
    return new Map(rows.map(({ name, nodeport }) => [name, nodeport]));
  });
}

/** A store that knows the coordinator alone. */
const byCoordinator: Attack["open"] = ({ coordinator }) => {
  const store = postgresStore({ connectionString: coordinator.url(), writers: NAMESPACES.length });
  return { store, end: () => store.close() };
};

/** A store that knows every node. */
const byEveryNode: Attack["open"] = ({ coordinator, workers }) => {
  const ports = [coordinator, ...workers].map(({ port }) => port);
  const hosts = ports.map((port) => `localhost:${port}`).join(",");
  const connectionString = coordinator.url().replace(/localhost:\d+/, hosts);
  const store = postgresStore({ connectionString, writers: NAMESPACES.length });
  return { store, end: () => store.close() };
};

/** A store that writes distributed tables by the statement of plain ones. */
const byOneStatement: Attack["open"] = ({ coordinator }) => {
  const pool = new Pool({ connectionString: coordinator.url(), max: 2 * NAMESPACES.length });
  pool.on("error", () => {});
  const plain = (text: string): string => text.replace(/\(to_regproc\(.*?\) is not null\)::int/, "0");
  const store = postgresStore({ pool: rewritingPool(pool, plain), writers: NAMESPACES.length });
  return {
    store,
    end: async () => {
      await store.close();
      await pool.end();
    },
  };
};

/** The functions on the workers do not wait for their disks. */
function hasten({ coordinator, workers }: CitusCluster): Promise<void> {
  return onServer(coordinator.url(), async (client) => {
    const { rows } = await client.query(
      "select pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'qavr'::regnamespace",
    );
    for (const { text } of rows) await client.query(withoutWaiting(text));
    for (const worker of workers) await onServer(worker.url(), (each) => each.query("checkpoint"));
  });
}

export const clusterKills: Harness = {
  name: "cluster node kills",
  obstacle: () => (hasCitus() ? undefined : "needs Citus: QAVR_CITUS_BIN names the folder of its programs"),
  async run(size): Promise<readonly CheckResult[]> {
    const settings = { fsync: size === "full" ? "on" : "off" };
    const [workers, coordinators] = [WORKER_KILLS[size], COORDINATOR_KILLS[size]];
    const one = await attack({ kills: workers, target: "worker", open: byEveryNode, settings });
    const other = await attack({ kills: coordinators, target: "coordinator", open: byEveryNode, settings });
    const lazy = { synchronous_commit: "off", wal_writer_delay: "10s", wal_writer_flush_after: "100MB" };
    const hasty = await attack({ kills: 1, target: "worker", open: byCoordinator, prepare: hasten, settings: lazy });
    // A write on several nodes is refused in more ways than one on a single node.
    const repeated = [...REPEATED, "STORE_FAILED"];
    const naive = await attack({ kills: 1, target: "worker", open: byOneStatement, repeated });
    return [
      survived(one, "SIGKILL to workers of a cluster while outcomes are recorded by all its nodes (Citus)", workers),
      survived(other, "SIGKILL to its coordinator", coordinators),
      wentOn(one, "a dead worker stops its own namespaces only", workers),
      wentOn(other, "a dead coordinator stops no namespace", coordinators),
      {
        promise: "R25",
        what: "mutant: workers do not wait for their disks",
        tried: "1 kills",
        seen: `${hasty.lost} lost outcomes seen`,
        held: hasty.lost > 0,
        mutant: true,
      },
      {
        promise: "R25",
        what: "mutant: distributed tables are written by the statement of plain ones",
        tried: "1 kills",
        seen: `${naive.wentOn} of ${naive.alive} other namespaces went on`,
        held: naive.wentOn < naive.alive,
        mutant: true,
      },
    ];
  },
};

function survived(
  { acknowledged, refused, lost, doubled, damaged }: Outcome,
  what: string,
  kills: number,
): CheckResult {
  return {
    promise: "R1",
    what,
    tried: `${kills} kills, ${acknowledged} acknowledged outcomes, ${refused} calls refused and repeated`,
    seen: `${lost} lost, ${doubled} counted twice; verify ${damaged === 0 ? "clean" : "not clean"}`,
    held: lost === 0 && doubled === 0 && damaged === 0 && acknowledged > kills * NAMESPACES.length,
  };
}

function wentOn({ alive, wentOn, longestWait }: Outcome, what: string, kills: number): CheckResult {
  return {
    promise: "R29",
    what,
    tried: `${kills} kills, ${alive} namespaces on other workers in all`,
    seen: `${wentOn} go on meanwhile; longest wait of a writer ${longestWait.toFixed(0)} ms`,
    held: wentOn === alive,
  };
}
