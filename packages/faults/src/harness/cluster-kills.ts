import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@qavr/core";
import { postgresStore } from "@qavr/postgres";
import { type CitusCluster, hasCitus, type PostgresServer, startCluster } from "@qavr/postgres-server";
import { Pool } from "pg";
import { type CheckResult, type Harness, mutantResult } from "./check.js";
import { onServer } from "./database.js";
import { follow } from "./promotion.js";
import { rewritingPool, withoutWaiting } from "./rewriting-pool.js";
import { REPEATED, type Survival, survivalOf, together, Writers } from "./writers.js";

const WORKER_KILLS = { quick: 1, full: 60 } as const;
const COORDINATOR_KILLS = { quick: 1, full: 20 } as const;
const MOVES = { quick: 1, full: 20 } as const;
const REBALANCES = { quick: 1, full: 6 } as const;
const FAILOVERS = { quick: 0, full: 5 } as const;
/** Codes of calls that are repeated: a statement may also wait for another node until its timeout. */
const REFUSED: readonly string[] = [...REPEATED, "STORE_BUSY"];
const NAMESPACES: readonly string[] = Array.from({ length: 12 }, (_, n) => `tenant:${n}`);
/** How long a node is away, in ms; afterwards its namespaces are expected to go on. */
const AWAY = 1_500;
/** The end of that time, in which namespaces are counted as going on. In ms. */
const COUNTED = 800;

/** Outcomes of a cluster whose nodes come and go. */
interface Outcome extends Survival {
  readonly damaged: number;
  /** Namespaces of nodes that were alive, and those of them that went on, over all kills. */
  readonly alive: number;
  readonly wentOn: number;
  /** Of a writer of a namespace whose node was alive, ms. */
  readonly longestWait: number;
}

/** Something that happens to a cluster. */
interface Disturbance {
  /** Port of the node that is away until it is over; undefined when none is. */
  readonly away: number | undefined;
  over(): Promise<void>;
}

/** Things that happen to a cluster, and how its writers reach it. */
interface Attack {
  readonly times: number;
  disturb(cluster: CitusCluster, turn: number): Promise<Disturbance>;
  open(cluster: CitusCluster): { readonly store: Store; end(): Promise<void> };
  /** Changes the cluster before anything is written. */
  prepare?(cluster: CitusCluster): Promise<void>;
  readonly repeated?: readonly string[];
}

/** Attacks a ledger that is created for it, and dropped afterwards. */
async function attack(
  cluster: CitusCluster,
  { times, disturb, open, prepare, repeated = REFUSED }: Attack,
): Promise<Outcome> {
  const first = postgresStore({ connectionString: cluster.coordinator.url(), shards: 8 });
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
    for (let turn = 0; turn < times; turn++) {
      // Somewhere within the next commits.
      await pause((turn * 7) % 23);
      for (const each of writers) each.longestWait = 0;
      const { away, over } = await disturb(cluster, turn);
      const others = writers.filter(({ namespace }) => homes.get(namespace) !== away);
      await pause(AWAY - COUNTED);
      const before = others.map(({ acknowledged }) => acknowledged.size);
      await pause(COUNTED);
      alive += others.length;
      wentOn += others.filter(({ acknowledged }, i) => acknowledged.size > (before[i] as number)).length;
      longestWait = Math.max(longestWait, ...others.map((each) => each.longestWait));
      await over();
      await acknowledgeInAll(1);
    }
    for (const each of writers) await each.finish();
    await end();
    const total = together(await Promise.all(writers.map((each) => survivalOf(each, first))));
    const { damaged } = await first.verify();
    return { ...total, damaged, alive, wentOn, longestWait };
  } finally {
    await first.close();
    await onServer(cluster.coordinator.url(), (client) => client.query("drop schema if exists qavr cascade"));
  }
}

/** Runs `work` with a cluster that is gone afterwards. */
async function withCluster<T>(
  settings: Readonly<Record<string, string>>,
  work: (cluster: CitusCluster) => Promise<T>,
): Promise<T> {
  await using cluster = await startCluster({ settings });
  return await work(cluster);
}

async function killed(node: PostgresServer): Promise<Disturbance> {
  await node.kill();
  return { away: node.port, over: () => node.restart() };
}

const killWorker: Attack["disturb"] = ({ workers }, turn) => killed(workers[turn % workers.length] as PostgresServer);
const killCoordinator: Attack["disturb"] = ({ coordinator }) => killed(coordinator);

/** Moves one shard of every table to another worker, by turns while it is copied and with writes blocked. */
const moveShard: Attack["disturb"] = ({ coordinator, workers }, turn) =>
  onServer(coordinator.url(), async (client) => {
    const [from, to] = turn % 2 === 0 ? workers : [...workers].reverse();
    const { rows } = await client.query(
      `select shardid from pg_dist_shard join pg_dist_shard_placement using (shardid)
       where logicalrelid = 'qavr.namespace'::regclass and nodeport = $1 order by shardid`,
      [from?.port],
    );
    const mode = turn % 4 < 2 ? "block_writes" : "force_logical";
    await client.query("select citus_move_shard_placement($1::bigint, 'localhost', $2, 'localhost', $3, $4)", [
      rows[turn % rows.length].shardid,
      from?.port,
      to?.port,
      mode,
    ]);
    return { away: undefined, over: async () => {} };
  });

/** Takes all shards off the second worker while they are copied, and the next time gives it its part back. */
const rebalance: Attack["disturb"] = ({ coordinator, workers: [, second] }, turn) =>
  onServer(coordinator.url(), async (client) => {
    await client.query("select citus_set_node_property('localhost', $1, 'shouldhaveshards', $2)", [
      second?.port,
      turn % 2 === 1,
    ]);
    await client.query("select citus_rebalance_start(shard_transfer_mode => 'force_logical')");
    await client.query("select citus_rebalance_wait()");
    const { rows } = await client.query(
      "select 1 from pg_dist_shard_placement where nodeport = $1 and shardid in (select shardid from pg_dist_shard where logicalrelid = 'qavr.entry'::regclass)",
      [second?.port],
    );
    if (rows.length > 0 !== (turn % 2 === 1)) throw new Error("The shards did not move.");
    return { away: undefined, over: async () => {} };
  });

/** Gives the first worker a synchronous standby, which is promoted in its place when it dies. */
async function failOver(settings: Readonly<Record<string, string>>): Promise<Outcome> {
  let standby: PostgresServer | undefined;
  try {
    return await withCluster(settings, (cluster) =>
      attack(cluster, {
        times: 1,
        open: byEveryNode,
        async prepare({ workers: [worker] }) {
          standby = await worker?.startReplica();
          await follow(worker as PostgresServer, "synchronous");
        },
        async disturb({ coordinator, workers: [worker] }) {
          await worker?.kill();
          const promoted = standby as PostgresServer;
          const over = async (): Promise<void> => {
            await onServer(promoted.url(), (client) => client.query("select pg_promote()"));
            await onServer(coordinator.url(), (client) =>
              client.query(
                "select citus_update_node((select nodeid from pg_dist_node where nodeport = $1), 'localhost', $2)",
                [worker?.port, promoted.port],
              ),
            );
          };
          return { away: worker?.port, over };
        },
      }),
    );
  } finally {
    await standby?.stop();
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
  const store = postgresStore({ connectionString: coordinator.url() });
  return { store, end: () => store.close() };
};

/** A store that knows every node. */
const byEveryNode: Attack["open"] = ({ coordinator, workers }) => {
  const ports = [coordinator, ...workers].map(({ port }) => port);
  const hosts = ports.map((port) => `localhost:${port}`).join(",");
  const connectionString = coordinator.url().replace(/localhost:\d+/, hosts);
  const store = postgresStore({ connectionString });
  return { store, end: () => store.close() };
};

/** A store that writes distributed tables by the statement of plain ones. */
const byOneStatement: Attack["open"] = ({ coordinator }) => {
  const pool = new Pool({ connectionString: coordinator.url(), max: 2 * NAMESPACES.length });
  pool.on("error", () => {});
  const plain = (text: string): string => text.replace(/\(to_regproc\(.*?\) is not null\)::int/, "0");
  const store = postgresStore({ pool: rewritingPool(pool, plain) });
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
    const [workers, coordinators, moves] = [WORKER_KILLS[size], COORDINATOR_KILLS[size], MOVES[size]];
    const open = byEveryNode;
    const kill = { times: 1, disturb: killWorker };
    // Rebalancing is the last one: it may leave a worker without shards.
    const [one, other, naive, moved, rebalanced] = await withCluster(settings, async (cluster) => [
      await attack(cluster, { times: workers, disturb: killWorker, open }),
      await attack(cluster, { times: coordinators, disturb: killCoordinator, open }),
      // A write on several nodes is refused in more ways than one on a single node.
      await attack(cluster, { ...kill, open: byOneStatement, repeated: [...REFUSED, "STORE_FAILED"] }),
      await attack(cluster, { times: moves, disturb: moveShard, open }),
      await attack(cluster, { times: REBALANCES[size], disturb: rebalance, open }),
    ]);
    const failovers: Outcome[] = [];
    while (failovers.length < FAILOVERS[size]) failovers.push(await failOver(settings));
    const lazy = {
      fsync: "off",
      synchronous_commit: "off",
      wal_writer_delay: "10s",
      wal_writer_flush_after: "100MB",
    };
    const hasty = await withCluster(lazy, (cluster) =>
      attack(cluster, { ...kill, open: byCoordinator, prepare: hasten }),
    );
    return [
      survived(
        [one],
        "SIGKILL to workers of a cluster while outcomes are recorded by all its nodes (Citus)",
        `${workers} kills`,
      ),
      survived([other], "SIGKILL to its coordinator", `${coordinators} kills`),
      survived([moved], "shards move between its workers", `${moves} moves`),
      survived([rebalanced], "its shards are rebalanced", `${REBALANCES[size]} times`),
      ...(failovers.length === 0
        ? []
        : [
            survived(
              failovers,
              "a worker dies, and its synchronous standby is promoted",
              `${failovers.length} failovers`,
            ),
          ]),
      wentOn(one, "a dead worker stops its own namespaces only", `${workers} kills`),
      wentOn(other, "a dead coordinator stops no namespace", `${coordinators} kills`),
      wentOn(moved, "a shard that moves stops no namespace", `${moves} moves`),
      wentOn(rebalanced, "rebalancing stops no namespace", `${REBALANCES[size]} times`),
      mutantResult({
        what: "workers do not wait for their disks",
        tried: "1 kills",
        seen: `${hasty.lost} lost outcomes seen`,
        held: hasty.lost > 0,
      }),
      mutantResult({
        what: "distributed tables are written by the statement of plain ones",
        tried: "1 kills",
        seen: `${naive.wentOn} of ${naive.alive} other namespaces went on`,
        held: naive.wentOn < naive.alive,
      }),
    ];
  },
};

function survived(outcomes: readonly Outcome[], what: string, times: string): CheckResult {
  const { acknowledged, refused, lost, doubled } = together(outcomes);
  const isClean = outcomes.every(({ damaged }) => damaged === 0);
  return {
    promise: "R1",
    what,
    tried: `${times}, ${acknowledged} acknowledged outcomes, ${refused} calls refused and repeated`,
    seen: `${lost} lost, ${doubled} counted twice; verify ${isClean ? "clean" : "not clean"}`,
    held: lost === 0 && doubled === 0 && isClean,
  };
}

function wentOn({ alive, wentOn, longestWait }: Outcome, what: string, times: string): CheckResult {
  return {
    promise: "R29",
    what,
    tried: `${times}, ${alive} namespaces on nodes that were there, in all`,
    seen: `${wentOn} go on meanwhile; longest wait of a writer ${longestWait.toFixed(0)} ms`,
    held: wentOn === alive,
  };
}
