import type { ScaleResults } from "../scale/measure.js";
import type { Compared } from "../scale/model.js";
import type { Way } from "./fleet.js";
import { type ClusterResults, FEW, type LargeWay, type WayCosts } from "./measure.js";

/** CPU time of the servers per outcome, µs. */
export interface Cpu {
  readonly warm: number;
  readonly cold: number;
  readonly together: number;
}

/**
 * CPU by a way on a cluster of so many workers, from a small one.
 *
 *     own(W) = own        coordinator(W) = coordinator        turn(W) = own / W + (1 − 1 / W) · other
 *
 * In turn, one of W nodes has the namespace. `other` is the cost at a node that has not, solved from the small cluster.
 */
export function cpuBy({ small, plan }: Pick<ClusterResults, "small" | "plan">, way: Way, workers: number): Cpu {
  const of = (name: keyof WayCosts): number => {
    const measured = small[way][name].servers;
    if (way !== "turn") return measured;
    const [own, few] = [small.own[name].servers, plan.fewWorkers];
    const other = (measured - own / few) / (1 - 1 / few);
    return own / workers + (1 - 1 / workers) * other;
  };
  return { warm: of("warm"), cold: of("cold"), together: of("together") };
}

/** Share of states that the traffic found in its process. */
export function cachedShare({ small, large }: Pick<ClusterResults, "small" | "large">): number {
  return 1 - large.plain.traffic.states / small.plain.cold.states;
}

/**
 * The model of `bench scale`, on a cluster: every outcome costs the large servers what it costs the small ones, and the tables and logs of
 * a cluster are those of a plain server.
 *
 *     outcome of the traffic = c · warm + (1 − c) · cold
 *     outcome of a commit of k = a + b / k, with warm = a + b and a + b / k of fifty callers measured on the small servers
 */
export function compare(results: ClusterResults): readonly Compared[] {
  const { plan, large, bytes } = results;
  const cached = cachedShare(results);
  const cpu = (way: LargeWay): Compared[] => {
    const { warm, cold, together } = cpuBy(results, way, plan.workers);
    const { traffic, few } = large[way];
    const many = results.small[way].together.perCommit;
    const commit = (warm - together) / (1 - 1 / many);
    return [
      {
        what: `traffic, ${WAY_NAMES[way]}`,
        unit: "µs",
        predicted: cached * warm + (1 - cached) * cold,
        measured: traffic.servers,
      },
      {
        what: `${FEW} callers of one tenant, ${WAY_NAMES[way]}`,
        unit: "µs",
        predicted: warm - commit + commit / few.perCommit,
        measured: few.servers,
      },
    ];
  };
  return [
    ...cpu("plain"),
    ...cpu("own"),
    ...cpu("turn"),
    ...cpu("coordinator"),
    {
      what: `log of the traffic, ${WAY_NAMES.own}`,
      unit: "bytes",
      predicted: large.plain.traffic.log,
      measured: large.own.traffic.log,
    },
    { what: "disk, all tenants", unit: "MB", predicted: bytes.plain / 1e6, measured: bytes.cluster / 1e6 },
  ];
}

export const WAY_NAMES: Readonly<Record<Way, string>> = {
  plain: "one plain server",
  routed: "several plain servers",
  own: "the worker that has the namespace",
  turn: "all workers in turn",
  coordinator: "the coordinator",
};

/** A demand, and the servers that are to carry it. */
export const DEPLOYMENT = {
  tenants: 100_000,
  memories: 1e9,
  outcomes: 10_000,
  /** Days that runs are kept whole, and that their keys are kept. */
  wholeDays: 30,
  keptDays: 365,
  /** Of one server, µs per second: half of 16 cores. */
  cpu: 8e6,
  /** Bytes: 70 % of 16 TB. */
  disk: 11.2e12,
  /** Bytes per second. */
  log: 200e6,
} as const;

/** Entries of a run, each with a key. */
const ENTRIES = 2;
const DAY = 86_400;

/** Outcomes per second that servers carry, by each of their limits. */
export interface Carried {
  readonly way: Way;
  readonly servers: number;
  readonly disk: number;
  readonly cpu: number;
  readonly log: number;
}

/** Costs of one plain server, as published by `bench scale`. */
export type Published = Pick<ScaleResults, "disk" | "costs">;

/**
 * The load that so many servers carry, nothing cached: costs of a plain server, times the factor of the cluster.
 *
 *     disk = (n · disk − memories − tenants) / bytes that one outcome per second fills in a year
 *     CPU  = n · CPU / (cold · factor)        by the coordinator at most: CPU / (cold · its own factor)
 *     log  = n · log / bytes of the traffic
 */
export function carriedBy(results: ClusterResults, published: Published, way: Way, servers: number): Carried {
  const { small } = results;
  const { disk, costs } = published;
  const { wholeDays, keptDays, memories, tenants } = DEPLOYMENT;
  const learned = memories * disk.small.memory + tenants * disk.small.namespace;
  const perRate = DAY * (wholeDays * disk.small.run + (keptDays - wholeDays) * ENTRIES * results.keyBytes);
  const plain = small.plain.cold.servers;
  const cold = (cpu: number): number => (costs.cold.server * cpu) / plain;
  const whole = (servers * DEPLOYMENT.cpu) / cold(cpuBy(results, way, servers).cold);
  const alone =
    way === "coordinator" ? DEPLOYMENT.cpu / cold(small.coordinator.cold.coordinator) : Number.POSITIVE_INFINITY;
  return {
    way,
    servers,
    disk: (servers * DEPLOYMENT.disk - learned) / perRate,
    cpu: Math.min(whole, alone),
    log: (servers * DEPLOYMENT.log) / costs.traffic.log,
  };
}
