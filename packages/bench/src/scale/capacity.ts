import { type Constants, mixed } from "./constants.js";
import type { Demand, Machines, Prices } from "./parameters.js";
import { characteristicTime, hitShare, type RowKind, touchedPages } from "./working-set.js";
import { zipfShares } from "./zipf.js";

/** Something that a deployment can run out of. */
export interface Resource {
  readonly name: string;
  /** What is needed in all, and what one shard gives within its limits, in `unit`. */
  readonly needed: number;
  readonly perShard: number;
  readonly unit: string;
  /** Shards that it asks for, not rounded. */
  readonly shards: number;
}

/** What a demand takes. */
export interface Capacity {
  /** Of rankings, that find their states in the process. */
  readonly cached: number;
  /** Cores that are busy all the time. */
  readonly appCores: number;
  readonly databaseCores: number;
  /** Per outcome, and of all outcomes per second. */
  readonly walBytes: number;
  readonly walPerSecond: number;
  /** Whole pages per outcome in the log. */
  readonly images: number;
  readonly disk: DiskNeed;
  /** Bytes of the pages that the traffic of a day comes back to. */
  readonly workingSet: number;
  /** Application processes, one core each. */
  readonly processes: number;
  readonly connectionsPerShard: number;
  /** The one that asks for most shards first. */
  readonly resources: readonly Resource[];
  readonly shards: number;
  readonly hot: HotTenants;
}

/** Bytes. */
export interface DiskNeed {
  /** States of all memories, and of all namespaces. */
  readonly states: number;
  /** The same once more, where compacted ledgers begin. */
  readonly checkpoints: number;
  /** That runs add in a day, and what compaction gives back of them later. */
  readonly perDay: number;
  readonly givenBackPerDay: number;
  /** Keys of compacted runs, which stay: in a day. */
  readonly keysPerDay: number;
  /** States, runs of the kept days, and keys of so many days beyond. */
  readonly total: number;
}

/** Tenants that one process, and one head, cannot serve any more. */
export interface HotTenants {
  /** Outcomes per second of the busiest tenant. */
  readonly busiest: number;
  /** Most outcomes per second of one tenant: all of them by one process, which commits together what comes together. */
  readonly ceiling: number;
  /** Tenants above half of that. */
  readonly near: number;
}

const DAY = 86_400;
/** Fewer processes have smaller caches together, which asks for more processes: a few rounds settle it to less than one. */
const ROUNDS = 3;
const MS = 1e-6;

/** Outcomes per second in the long run, from tenants with shares by Zipf's law. */
export function plan(constants: Constants, demand: Demand, machines: Machines): Capacity {
  const { tenants, outcomesPerSecond, exponent } = demand;
  const { contents, warm, cold, image, shared } = constants;
  const shares = zipfShares(tenants, exponent);
  const perTenant = demand.memories / tenants;
  const kinds: readonly RowKind[] = [
    { perNamespace: demand.activeMemories, touched: demand.shown / demand.activeMemories },
    { perNamespace: perTenant - demand.activeMemories, touched: 0 },
    { perNamespace: 2, touched: 1 },
  ];
  // Between two checkpoints.
  const draws = outcomesPerSecond * demand.checkpointSeconds;
  const images = changedPagesAt(constants, shares, kinds, draws) / draws;
  const walBytes = warm.walBytes + images * image.bytes;

  // Every process serves tenants of its own: so their caches add up. How many there are depends on what they find there.
  let [cached, processes] = [1, 1];
  for (let round = 0; round < ROUNDS; round++) {
    const app = mixed(warm.app, cold.app, cached) * MS * outcomesPerSecond;
    processes = Math.ceil(app / machines.app.use);
    cached = hitShare(
      shares,
      characteristicTime(shares, {
        perNamespace: demand.activeMemories * (contents.memoryValue + CACHED_STATE),
        perOutcome: contents.episodeValue + CACHED_STATE,
        capacity: processes * machines.app.cacheBytes,
      }),
    );
  }
  const appCores = mixed(warm.app, cold.app, cached) * MS * outcomesPerSecond;
  const databaseCores = (mixed(warm.database, cold.database, cached) + images * image.cpu) * MS * outcomesPerSecond;
  const disk = diskNeed(constants, demand);
  const workingSet =
    tenants * (contents.bytes.namespace + demand.activeMemories * contents.bytes.memory) +
    disk.perDay * demand.recentDays;

  const { database } = machines;
  const resource = (name: string, unit: string, needed: number, perShard: number): Resource => ({
    name,
    unit,
    needed,
    perShard,
    shards: needed / perShard,
  });
  const resources = [
    resource("disk", "TB", disk.total / 1e12, (database.diskBytes * database.diskUse) / 1e12),
    resource("processor", "cores", databaseCores, database.cores * database.use),
    resource("log", "MB/s", (walBytes * outcomesPerSecond) / 1e6, database.logBytesPerSecond / 1e6),
    resource("memory", "GB", workingSet / 1e9, (database.memoryBytes * database.memoryUse) / 1e9),
  ].sort((a, b) => b.shards - a.shards);
  const ceiling = 1e6 / Math.max(shared.app, shared.database);
  return {
    cached,
    appCores,
    databaseCores,
    walBytes,
    walPerSecond: walBytes * outcomesPerSecond,
    images,
    disk,
    workingSet,
    processes,
    connectionsPerShard: processes * machines.app.connections,
    resources,
    shards: Math.ceil((resources[0] as Resource).shards),
    hot: {
      busiest: (shares[0] as number) * outcomesPerSecond,
      ceiling,
      near: shares.filter((share) => share * outcomesPerSecond > ceiling / 2).length,
    },
  };
}

/** What the cache of states counts beside a value, with an id of some 24 characters. */
const CACHED_STATE = 208;

function changedPagesAt(
  { contents: { packing } }: Constants,
  shares: Float64Array,
  states: readonly RowKind[],
  draws: number,
): number {
  const rows = states.reduce((sum, { perNamespace }) => sum + perNamespace, 0);
  const one: readonly RowKind[] = [{ perNamespace: 1, touched: 1 }];
  // A tenant with thousands of rows has leaves to itself; new rows come to one of them.
  const leaves = (rowsPerLeaf: number): number => touchedPages(shares, one, Math.max(1, rowsPerLeaf / rows), draws);
  return (
    touchedPages(shares, states, packing.statesPerPage, draws) +
    touchedPages(shares, one, packing.headsPerPage, draws) +
    leaves(packing.stateLeaf) +
    2 * touchedPages(shares, one, 1, draws)
  );
}

/** Disk of a key whose entry was compacted away: a short row with its places in two indexes. */
export function keyBytes({
  contents: { packing },
  droppedEntry,
}: Pick<Constants, "contents" | "droppedEntry">): number {
  return droppedEntry + PAGE / packing.entryLeaf + PAGE / packing.keyLeaf;
}

function diskNeed(constants: Constants, demand: Demand): DiskNeed {
  const { bytes } = constants.contents;
  const states = demand.memories * bytes.memory + demand.tenants * bytes.namespace;
  const perDay = demand.outcomesPerSecond * DAY * bytes.run;
  // What is left of a run are its two keys.
  const keysPerDay = demand.outcomesPerSecond * DAY * 2 * keyBytes(constants);
  // A compacted ledger begins with the states as they were: those of its memories are there twice.
  const checkpoints = states;
  return {
    states,
    checkpoints,
    perDay,
    keysPerDay,
    givenBackPerDay: perDay - keysPerDay,
    total: states + checkpoints + demand.keptDays * perDay + demand.keysDays * keysPerDay,
  };
}

const PAGE = 8_192;
/** Per month, in the currency of the prices. */
export function monthlyPrice(capacity: Capacity, machines: Machines, prices: Prices): number {
  const { cores, memoryBytes, diskBytes } = machines.database;
  const shard = cores * prices.core + (memoryBytes / 2 ** 30) * prices.gibibyte + (diskBytes / 1e12) * prices.terabyte;
  const app = prices.core + ((machines.app.cacheBytes + machines.app.otherBytes) / 2 ** 30) * prices.gibibyte;
  return capacity.shards * machines.database.copies * shard + capacity.processes * app;
}
