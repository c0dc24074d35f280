import { type Constants, type Latencies, mixed, waitsOf } from "./constants.js";
import type { Lookup } from "./lookup.js";
import { closedThroughput } from "./queueing.js";
import type { TenantShape } from "./tenants.js";
import {
  type CacheUse,
  characteristicTime,
  hitShare,
  meanHitShare,
  type RowKind,
  touchedPages,
  visited,
} from "./working-set.js";

/** Many tenants on one server. */
export interface Plant {
  readonly tenants: number;
  readonly shape: TenantShape;
  /** Of the traffic, by tenant. */
  readonly shares: Float64Array;
  /** Bytes that a store may keep of states. */
  readonly cacheBytes: number;
  /** Bytes of pages that the server keeps in its own memory. */
  readonly bufferBytes: number;
}

/** Traffic from a process that has just started, after a checkpoint. */
export interface TrafficPrediction {
  /** Rankings that find all they need in the process, mean over the traffic. */
  readonly cached: number;
  /** Per outcome. */
  readonly rankedStates: number;
  readonly roundTrips: number;
  readonly walBytes: number;
  readonly images: number;
  readonly app: number;
  readonly database: number;
  /** Bytes that tables and indexes grow by. */
  readonly growth: number;
}

/** What the store's cache counts for a state beside its value and two bytes per unit of its id (`StateCache` of @qavr/core). */
const CACHED_STATE = 160;
/** Lengths of ids: memories as the bench names them, episodes, and the collection's and the counts' together. */
const ID = { memory: 24, episode: 36, namespace: 16 } as const;

/** Bytes that a store caches of a tenant, and of each run on top: the record of its episode. */
function cacheUse({ contents }: Pick<Constants, "contents">, plant: Plant): CacheUse {
  const { memories, namespaces, memoryValue, episodeValue, namespaceValue } = contents;
  // A candidate without a state is remembered as such.
  const candidates = plant.shape.memories * (CACHED_STATE + 2 * ID.memory);
  return {
    perNamespace:
      candidates + (memories / namespaces) * memoryValue + 2 * CACHED_STATE + 2 * ID.namespace + namespaceValue,
    perOutcome: CACHED_STATE + 2 * ID.episode + episodeValue,
    capacity: plant.cacheBytes,
  };
}

/** How many outcomes a tenant may stay away and still find its states cached. */
function cacheTime(constants: Pick<Constants, "contents">, plant: Plant): number {
  return characteristicTime(plant.shares, cacheUse(constants, plant));
}

/** Share of rankings that find everything cached after so many outcomes of the process. */
export function cachedAfter(constants: Pick<Constants, "contents">, plant: Plant, outcomes: number): number {
  return hitShare(plant.shares, Math.min(outcomes, cacheTime(constants, plant)));
}

/** Bytes of all tables and indexes of so many tenants with their history. */
export function predictDisk({ contents }: Pick<Constants, "contents">, { tenants, shape }: Plant): number {
  const { bytes, memories, namespaces } = contents;
  return tenants * (bytes.namespace + (memories / namespaces) * bytes.memory + shape.history * bytes.run);
}

/** States of memories that so many outcomes show for the first time. */
function newMemories({ contents }: Pick<Constants, "contents">, { shares, shape }: Plant, outcomes: number): number {
  const absent = shape.memories - contents.memories / contents.namespaces;
  return touchedPages(shares, [{ perNamespace: absent, touched: shape.shown / shape.memories }], 1, outcomes);
}

/**
 * Pages of states that so many outcomes change. From a page that was packed full, the first row that changes moves to another page and
 * leaves its room to the next ones: so many rows lie in two places until a vacuum.
 */
function statePages({ contents }: Pick<Constants, "contents">, { shares, shape }: Plant, outcomes: number): number {
  const { packing, memories, namespaces, runs } = contents;
  const kinds: readonly RowKind[] = [
    { perNamespace: memories / namespaces, touched: shape.shown / shape.memories },
    { perNamespace: 2, touched: 1 },
    { perNamespace: runs / namespaces, touched: 0 },
  ];
  return touchedPages(shares, kinds, packing.statesPerPage, outcomes);
}

/** Pages that so many outcomes change for the first time after a checkpoint. */
export function changedPages(constants: Pick<Constants, "contents">, plant: Plant, outcomes: number): number {
  const { packing, memories, namespaces, runs } = constants.contents;
  const ended = runs / namespaces;
  const pages = (kinds: readonly RowKind[], rowsPerPage: number): number =>
    touchedPages(plant.shares, kinds, rowsPerPage, outcomes);
  // A namespace's part of an index lies in a row; a leaf holds the parts of several.
  const leaves = (rowsPerLeaf: number, rows: number): number =>
    pages([{ perNamespace: 1, touched: 1 }], rowsPerLeaf / rows);
  return (
    statePages(constants, plant, outcomes) +
    pages([{ perNamespace: 1, touched: 1 }], packing.headsPerPage) +
    leaves(packing.stateLeaf, memories / namespaces + 2 + ended) +
    leaves(packing.entryLeaf, 2 * ended) +
    leaves(packing.keyLeaf, 2 * ended)
  );
}

export function predictTraffic(constants: Constants, plant: Plant, outcomes: number): TrafficPrediction {
  const { warm, cold, firstWal, image, contents } = constants;
  const firsts = visited(plant.shares, outcomes) / outcomes;
  const cached = meanHitShare(plant.shares, cacheTime(constants, plant), 0, outcomes);
  const images = changedPages(constants, plant, outcomes) / outcomes;
  const between = (of: (cost: typeof warm) => number): number => mixed(of(warm), of(cold), cached);
  return {
    cached,
    rankedStates: between(({ asked }) => asked.rankedStates),
    roundTrips: between(({ asked }) => asked.roundTrips),
    walBytes: mixed(warm.walBytes, firstWal, 1 - firsts) + images * image.bytes,
    images,
    app: between(({ app }) => app),
    database: between(({ database }) => database) + images * image.cpu,
    growth:
      outcomes * contents.bytes.run +
      (newMemories(constants, plant, outcomes) + statePages(constants, plant, outcomes)) * contents.bytes.memory,
  };
}

/** Time of one caller's ranking or outcome, µs, where such a share of tenants is cached. */
export function predictLatency(
  latencies: Latencies,
  cached: number,
): { readonly ranking: number; readonly outcome: number } {
  const { warm, cold } = latencies;
  return {
    ranking: mixed(warm.ranking, cold.ranking, cached),
    outcome: mixed(warm.outcome, cold.outcome, cached),
  };
}

/**
 * Outcomes per second of so many clients: the application's thread and the server, each on a core, and the waits of one caller.
 *
 * @param traffic what one outcome costs there
 */
function predictRate(
  constants: Constants,
  latencies: Latencies,
  { cached, app, database }: Pick<TrafficPrediction, "cached" | "app" | "database">,
  clients: number,
): number {
  const waits = waitsOf(constants, latencies);
  return closedThroughput({ queues: [app, database], delay: mixed(waits.warm, waits.cold, cached) }, clients);
}

/** How much slower so many clients are than on the small server where everything is cached, by what an outcome costs. */
export function slowdown(
  constants: Constants,
  latencies: Latencies,
  cost: Pick<TrafficPrediction, "cached" | "app" | "database">,
  clients: number,
): number {
  const { app, database } = constants.warm;
  return (
    predictRate(constants, latencies, cost, clients) /
    predictRate(constants, latencies, { cached: 1, app, database }, clients)
  );
}

/**
 * µs of reading a tenant's states where tables and indexes are larger than the server's memory, and tenants are drawn evenly: so large a
 * share of pages comes from the operating system.
 */
export function predictRead(
  { kept, evicted }: { readonly kept: Lookup; readonly evicted: Lookup },
  bytes: number,
  { bufferBytes }: Pick<Plant, "bufferBytes">,
): number {
  return mixed(kept.read, evicted.read, Math.min(1, bufferBytes / bytes));
}
