import { createEngine, type Engine } from "@qavr/core";
import { compact } from "@qavr/core/maintenance";
import { mean, seededRandom } from "@qavr/lab";
import { tableBytes } from "../scale/disk.js";
import { atOnce, everyTenant, meanOf } from "../scale/measure.js";
import { SCHEMA, type Watched } from "../scale/plant.js";
import { createRuns, type Runs, runOnce, tenantName } from "../scale/tenants.js";
import { drawRanks, zipfShares } from "../scale/zipf.js";
import { type ClusterWay, clusterFleet, type Fleet, plainFleet, type Way } from "./fleet.js";

export interface ClusterPlan {
  /** Tenants of the small servers, and workers of the small cluster. */
  readonly calibrated: number;
  readonly fewWorkers: number;
  /** Tenants of the large servers, and workers of the large cluster. */
  readonly tenants: number;
  readonly workers: number;
  /** Outcomes of the traffic, and of the callers of one tenant. */
  readonly outcomes: number;
  readonly together: number;
  readonly clients: number;
  readonly parts: number;
}

/** The published plan. */
export const FULL: ClusterPlan = {
  calibrated: 200,
  fewWorkers: 2,
  tenants: 2_000,
  workers: 4,
  outcomes: 2_000,
  together: 1_000,
  clients: 8,
  parts: 3,
};

export const LOOK: ClusterPlan = { ...FULL, calibrated: 100, tenants: 500, outcomes: 500, together: 500, parts: 1 };

/** Means per outcome, each with its ranking. */
export interface FleetCost {
  /** CPU time of all servers, of the coordinator alone, and of the application, µs. */
  readonly servers: number;
  readonly coordinator: number;
  readonly app: number;
  /** Bytes in the logs of all servers. */
  readonly log: number;
  /** States that rankings asked the servers for; not counted for the way `own`. */
  readonly states: number;
}

/** Of callers of one tenant, which share commits. */
export interface SharedCost extends FleetCost {
  /** Outcomes of one commit. */
  readonly perCommit: number;
}

/** *Warm*: the process has the tenant's states; *cold*: it has never met the tenant. */
export interface WayCosts {
  readonly warm: FleetCost;
  readonly cold: FleetCost;
  /** Outcomes of one tenant by fifty callers. */
  readonly together: SharedCost;
}

/** Of one commit. */
export interface Messages {
  /** Between nodes, where the writer knows the head, and where it locks it. */
  readonly alone: number;
  readonly locked: number;
}

/** Measurements of a small plain server, a small cluster, and large ones. */
export interface ClusterResults {
  readonly plan: ClusterPlan;
  /** Versions of PostgreSQL and Citus. */
  readonly servers: string;
  readonly small: Readonly<Record<Way, WayCosts>>;
  readonly messages: Readonly<Record<ClusterWay, Messages>>;
  /** Of the large servers: of Zipf's traffic, and of ten callers of one tenant. */
  readonly large: Readonly<Record<LargeWay, { readonly traffic: FleetCost; readonly few: SharedCost }>>;
  /** Bytes of all tables of the large servers, before their traffic. */
  readonly bytes: { readonly plain: number; readonly cluster: number };
  /** Bytes that a dropped entry leaves behind. */
  readonly keyBytes: number;
}

const LARGE_WAYS = ["plain", "own", "turn", "coordinator"] as const;
export type LargeWay = (typeof LARGE_WAYS)[number];

/** Callers of one tenant that share commits: measured on the small servers, and predicted for the large ones. */
export const MANY = 50;
export const FEW = 10;
const SEED = 29;
/** Commits whose messages are counted, after as many that are not. */
const COUNTED = 20;

export interface ClusterOptions {
  /** Of all servers. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onProgress?: (share: number) => void;
}

/** Measures all ways in turn, part by part, so that a busy machine slows all. */
export async function measureCluster(
  plan: ClusterPlan,
  { settings, onProgress = () => {} }: ClusterOptions = {},
): Promise<ClusterResults> {
  const fleets: Fleet[] = [];
  const opened = async (fleet: Promise<Fleet>): Promise<Fleet> => {
    fleets.push(await fleet);
    return fleet;
  };
  try {
    // Tenants of the second half only warm connections up.
    const tenants = 2 * plan.calibrated;
    const [plain, routed, few] = await Promise.all([
      opened(plainFleet(1, tenants, settings)),
      opened(plainFleet(2, tenants, settings)),
      opened(clusterFleet(plan.fewWorkers, tenants, settings)),
    ]);
    onProgress(0.1);
    const fleetOf: Readonly<Record<Way, Fleet>> = { plain, routed, own: few, turn: few, coordinator: few };
    const small = await measureWays(fleetOf, plan, (share) => onProgress(0.1 + 0.4 * share));
    const messages = await measureMessages(few);
    const keyBytes = await measureKeys(plain, tenants);
    onProgress(0.55);
    const [largePlain, largeCluster] = await Promise.all([
      opened(plainFleet(1, plan.tenants, settings)),
      opened(clusterFleet(plan.workers, plan.tenants, settings)),
    ]);
    const bytes = { plain: await largePlain.bytes(), cluster: await largeCluster.bytes() };
    onProgress(0.7);
    const large = await measureLarge(largePlain, largeCluster, plan, (share) => onProgress(0.7 + 0.3 * share));
    return { plan, servers: await versionsOf(few), small, messages, bytes, keyBytes, large };
  } finally {
    for (const fleet of fleets) await fleet.close();
  }
}

async function measureWays(
  fleets: Readonly<Record<Way, Fleet>>,
  { calibrated, clients, together, parts }: ClusterPlan,
  onProgress: (share: number) => void,
): Promise<Readonly<Record<Way, WayCosts>>> {
  const runs = createRuns(SEED);
  const ways = Object.keys(fleets) as Way[];
  const found = Object.fromEntries(ways.map((way) => [way, [] as WayCosts[]])) as Record<Way, WayCosts[]>;
  for (let part = 0; part < parts; part++) {
    for (const [place, way] of ways.entries()) {
      const fleet = fleets[way];
      const engine = fleet.engine(way);
      const pass = (next: () => number): Promise<FleetCost> =>
        passOf({ fleet, engine, runs, next }, clients, calibrated);
      const own = everyTenant(calibrated);
      const others = everyTenant(calibrated);
      await pass(() => calibrated + others());
      const cold = await pass(own);
      await pass(own);
      const warm = await pass(own);
      const shared = await sharedPass({ fleet, engine, runs, next: () => part }, MANY, together);
      found[way].push({ cold, warm, together: shared });
      await engine.close();
      onProgress((part + (place + 1) / ways.length) / parts);
    }
  }
  const meanBy = <Of extends keyof WayCosts>(way: Way, of: Of): WayCosts[Of] =>
    meanOf(found[way].map((one) => one[of] as SharedCost));
  return Object.fromEntries(
    ways.map((way) => [
      way,
      { warm: meanBy(way, "warm"), cold: meanBy(way, "cold"), together: meanBy(way, "together") },
    ]),
  ) as Record<Way, WayCosts>;
}

async function measureLarge(
  plain: Fleet,
  cluster: Fleet,
  { tenants, calibrated, clients, outcomes, together, parts }: ClusterPlan,
  onProgress: (share: number) => void,
): Promise<ClusterResults["large"]> {
  const runs = createRuns(SEED);
  const found = Object.fromEntries(LARGE_WAYS.map((way) => [way, { traffic: [], few: [] }])) as unknown as Record<
    LargeWay,
    { readonly traffic: FleetCost[]; readonly few: SharedCost[] }
  >;
  const draw = drawRanks(zipfShares(tenants - calibrated), seededRandom(SEED));
  for (let part = 0; part < parts; part++) {
    for (const [place, way] of LARGE_WAYS.entries()) {
      const fleet = way === "plain" ? plain : cluster;
      const engine = fleet.engine(way);
      const pass = (next: () => number, count: number): Promise<FleetCost> =>
        passOf({ fleet, engine, runs, next }, clients, count);
      const others = everyTenant(calibrated);
      await pass(others, calibrated);
      // The busiest tenants are copies like the others: the first ones are the originals.
      found[way].traffic.push(await pass(() => tenants - 1 - draw(), outcomes));
      found[way].few.push(await sharedPass({ fleet, engine, runs, next: () => part }, FEW, together / 2));
      await engine.close();
      onProgress((part + (place + 1) / LARGE_WAYS.length) / parts);
    }
  }
  return Object.fromEntries(
    LARGE_WAYS.map((way) => [way, { traffic: meanOf(found[way].traffic), few: meanOf(found[way].few) }]),
  ) as ClusterResults["large"];
}

interface Process {
  readonly fleet: Fleet;
  readonly engine: Engine;
  readonly runs: Runs;
  /** The tenant of the next run. */
  next(): number;
}

/** The cost of whole runs, from retrieval to outcome, by callers that begin the next run when the last has ended. */
async function passOf({ fleet, engine, runs, next }: Process, callers: number, outcomes: number): Promise<FleetCost> {
  const { nodes, asked } = fleet;
  const logOf = async (): Promise<number> => {
    let sum = 0;
    for (const node of nodes) sum += await node.log();
    return sum;
  };
  const [log, states, app] = [await logOf(), asked.states, process.cpuUsage()];
  const before = nodes.map((node) => node.cpu());
  let begun = 0;
  await atOnce(callers, async () => {
    while (begun < outcomes) {
      begun += 1;
      await runOnce(engine, tenantName(next()), runs);
    }
  });
  const spent = nodes.map((node, place) => node.cpu() - (before[place] as number));
  const { user, system } = process.cpuUsage(app);
  return {
    servers: spent.reduce((sum, one) => sum + one, 0) / outcomes,
    coordinator: (spent[0] as number) / outcomes,
    app: (user + system) / outcomes,
    log: ((await logOf()) - log) / outcomes,
    states: (asked.states - states) / outcomes,
  };
}

/** Runs of one tenant, whose revision counts its commits. */
async function sharedPass(process: Process, callers: number, outcomes: number): Promise<SharedCost> {
  const { client } = process.fleet.nodes[0] as Watched;
  const revision = async (): Promise<number> => {
    const name = Buffer.from(tenantName(process.next()));
    const { rows } = await client.query(`select revision::float8 from ${SCHEMA}.namespace where name = $1`, [name]);
    return rows[0].revision;
  };
  const before = await revision();
  const cost = await passOf(process, callers, outcomes);
  return { ...cost, perCommit: outcomes / ((await revision()) - before) };
}

/** Counts what the asked node sends to others for each commit: of a process's first outcome of a tenant, and of its second. */
async function measureMessages(cluster: Fleet): Promise<ClusterResults["messages"]> {
  const homes = await homesIn(cluster);
  const runs = createRuns(SEED);
  const count = async (node: number, tenants: readonly number[]): Promise<Messages> => {
    let sent = 0;
    const { store, end } = cluster.storeAt(node, (pool) => {
      pool.on("connect", (client) => {
        void client.query("set citus.log_remote_commands = on; set client_min_messages = notice");
        client.on("notice", ({ message }) => {
          if (message?.startsWith("issuing ")) sent += 1;
        });
      });
    });
    let ofCommit = 0;
    const commit: typeof store.commit = async (...given) => {
      const before = sent;
      const receipts = await store.commit(...given);
      ofCommit = sent - before;
      return receipts;
    };
    const engine = createEngine({ store: { ...store, commit }, readTimeout: 60_000, writeTimeout: 60_000 });
    const messages = { locked: [] as number[], alone: [] as number[] };
    for (const tenant of tenants) {
      for (const of of ["locked", "alone"] as const) {
        await runOnce(engine, tenantName(tenant), runs);
        messages[of].push(ofCommit);
      }
    }
    await end();
    const counted = (of: keyof Messages): number => mean(messages[of].slice(-COUNTED));
    return { locked: counted("locked"), alone: counted("alone") };
  };
  const all = [...homes.keys()];
  return {
    own: await count(1, all.filter((tenant) => homes[tenant] === 1).slice(0, 2 * COUNTED)),
    turn: await count(1, all.slice(0, 2 * COUNTED)),
    coordinator: await count(0, all.slice(0, 2 * COUNTED)),
  };
}

async function versionsOf({ nodes }: Fleet): Promise<string> {
  const { rows } = await (nodes[0] as Watched).client.query(
    `select split_part(current_setting('server_version'), ' ', 1) as postgresql, extversion as citus
     from pg_extension where extname = 'citus'`,
  );
  return `PostgreSQL ${rows[0].postgresql}, Citus ${rows[0].citus}`;
}

/** The node of each tenant, as its place among the nodes. */
async function homesIn({ nodes }: Fleet): Promise<readonly number[]> {
  const portOf = async ({ client }: Watched): Promise<number> => Number((await client.query("show port")).rows[0].port);
  const ports = await Promise.all(nodes.map(portOf));
  const { rows } = await (nodes[0] as Watched).client.query(
    `select nodeport::int as port from ${SCHEMA}.namespace join pg_dist_shard_placement
      on shardid = get_shard_id_for_distribution_column('${SCHEMA}.namespace', id) order by name`,
  );
  return rows.map(({ port }) => ports.indexOf(port));
}

/** Compacts all tenants of a plain server, and returns the bytes that each dropped entry leaves behind. */
async function measureKeys(plain: Fleet, tenants: number): Promise<number> {
  const { client } = plain.nodes[0] as Watched;
  const { store, end } = plain.storeAt(0);
  // Its clock is years after the last outcome.
  const engine = createEngine({ store, readTimeout: 60_000, writeTimeout: 60_000 });
  for (let tenant = 0; tenant < tenants; tenant++) await compact(engine, { namespace: tenantName(tenant) });
  await end();
  await client.query(`vacuum (full) ${SCHEMA}.entry`);
  const { rows } = await client.query(
    `select count(*)::float8 as dropped from ${SCHEMA}.entry as dropped join ${SCHEMA}.namespace as kept
      on kept.id = dropped.namespace and dropped.seq <= kept.base`,
  );
  return ((await tableBytes(client)).entry as number) / rows[0].dropped;
}
