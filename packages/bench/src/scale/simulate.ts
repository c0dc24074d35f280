import type { Engine } from "@qavr/core";
import { seededRandom } from "../random/seeded-random.js";
import { mean } from "../statistics/interval.js";
import { type Calibration, hangUp, settle, TOGETHER } from "./calibrate.js";
import type { CostPair, Latencies } from "./constants.js";
import { fillTenants } from "./fill.js";
import { type Lookup, measureLookups } from "./lookup.js";
import { type Cost, type Latency, measureLatency, measurePass, measureRate } from "./pass.js";
import { type Contents, contentsOf } from "./row-bytes.js";
import type { ServerMeter } from "./server-meter.js";
import type { ServerPool } from "./tenant-engine.js";
import { createRuns, type Runs, type TenantShape, tenantName } from "./tenants.js";
import { drawRanks } from "./zipf.js";

/** What a plant is put through. */
export interface SimulationPlan {
  readonly schema: string;
  readonly shape: TenantShape;
  /** Sizes that the plant grows through; the last one is simulated. */
  readonly sizes: readonly number[];
  /** Traffic by tenant. */
  readonly shares: Float64Array;
  /** Outcomes of the traffic that everything is counted of, in so many parts. */
  readonly outcomes: number;
  readonly parts: number;
  readonly clients: number;
  /** Numbers of clients whose rate is measured, each for `duration` ms in each round. */
  readonly rates: readonly number[];
  readonly rounds: number;
  readonly duration: number;
}

/** A plant of one size. */
export interface Growth extends Lookup {
  readonly tenants: number;
  readonly bytes: number;
}

/** How much a process finds in its own memory, by the outcomes it has seen. */
export interface CachedPoint {
  readonly outcomes: number;
  /** Share of the states for rankings over the outcomes since the last point. */
  readonly cached: number;
}

export interface Simulation {
  readonly growth: readonly Growth[];
  readonly contents: Contents;
  readonly traffic: Cost & { readonly images: number; readonly growth: number; readonly cached: number };
  readonly curve: readonly CachedPoint[];
  /** Outcomes per second, one number per round. */
  readonly rates: readonly { readonly clients: number; readonly rounds: readonly number[] }[];
  readonly latencies: readonly Latency[];
  /** Outcomes of the busiest tenant by fifty callers. */
  readonly shared: Cost;
  /** Of the process after so many tenants, bytes. */
  readonly memory: readonly { readonly tenants: number; readonly heap: number }[];
  /** Of cleaning up after the traffic: CPU time of the server, µs, and s. */
  readonly vacuum: { readonly cpu: number; readonly seconds: number };
}

/** The small server as it was beside the large one: machines have moods. */
export interface Beside {
  /** At each size of the large one. */
  readonly lookups: readonly { readonly kept: Lookup; readonly evicted: Lookup }[];
  /** Around the parts of the traffic. */
  readonly costs: readonly CostPair[];
  /** Before each rate, by numbers of clients and rounds. */
  readonly latencies: readonly Latencies[];
  readonly rates: readonly { readonly clients: number; readonly rounds: readonly number[] }[];
  /** Around the outcomes of one tenant. */
  readonly shared: readonly Cost[];
}

const SEED = 83;
/** Outcomes of one caller that are timed at once. */
const CALLS = 60;
/** Outcomes per point of the curve. */
const POINT = 500;

/** Where a simulation happens. */
interface Stage {
  readonly meter: ServerMeter;
  readonly server: ServerPool;
  readonly plan: SimulationPlan;
  readonly small: Calibration;
  readonly onProgress: (what: string, share: number) => void;
}

/** One process and the traffic that comes to it. */
interface Served {
  readonly engine: Engine;
  readonly runs: Runs;
  /** The tenant of the next run. */
  next(): number;
}

/** Fills a plant, sends traffic through it by the real engine and store, and measures. */
export async function simulate(
  meter: ServerMeter,
  server: ServerPool,
  plan: SimulationPlan,
  small: Calibration,
  onProgress: (what: string, share: number) => void = () => {},
): Promise<{ readonly simulation: Simulation; readonly beside: Beside }> {
  const stage: Stage = { meter, server, plan, small, onProgress };
  const { growth, lookups } = await grow(stage);
  const contents = await contentsOf(meter, plan.schema);
  const tenants = plan.sizes.at(-1) as number;
  const draw = drawRanks(plan.shares, seededRandom(SEED));
  const served: Served = {
    engine: server.engine(),
    runs: createRuns(plan.shape, SEED),
    // The busiest are copies like the others: the first tenants are those that lived.
    next: () => tenants - 1 - draw(),
  };
  const { traffic, curve, costs } = await sendTraffic(stage, served, contents);
  const { rates, latencies, smallRates, smallLatencies } = await measureRates(stage, served);
  const { shared, smallShared } = await serveOne(stage, { ...served, next: () => tenants - 1 });
  const vacuum = await cleanUp(meter);
  const memory = await touchAll(served.engine, tenants, (share) => onProgress("every tenant once", share));
  return {
    simulation: { growth, contents, traffic, curve, rates, latencies, shared, vacuum, memory },
    beside: { lookups, costs, latencies: smallLatencies, rates: smallRates, shared: smallShared },
  };
}

/** Fills the plant step by step. */
async function grow({
  meter,
  server,
  plan: { schema, shape, sizes },
  small,
  onProgress,
}: Stage): Promise<Pick<Simulation, "growth"> & Pick<Beside, "lookups">> {
  const growth: Growth[] = [];
  const lookups: Beside["lookups"][number][] = [];
  let from = 0;
  for (const to of sizes) {
    const label = `filling ${to.toLocaleString("en")} tenants`;
    await fillTenants(server.store(), meter.client, schema, { from, to, shape }, (share) => onProgress(label, share));
    await settle(meter);
    const large = { meter, server, schema, tenants: to, evict: false };
    const [kept, own, evicted] = (await measureLookups([small.kept, large, small.evicted], shape)) as [
      Lookup,
      Lookup,
      Lookup,
    ];
    growth.push({ tenants: to, bytes: await sizeOf(meter, schema), ...own });
    lookups.push({ kept, evicted });
    from = to;
  }
  return { growth, lookups };
}

/** Traffic from a process that has just started, after a checkpoint. */
async function sendTraffic(
  { meter, server, plan, small, onProgress }: Stage,
  { engine, runs, next }: Served,
  contents: Contents,
): Promise<Pick<Simulation, "traffic" | "curve"> & Pick<Beside, "costs">> {
  const { outcomes, parts, clients, shape } = plan;
  const inPart = outcomes / parts;
  const every = Math.min(POINT, inPart);
  const needed = shape.memories + 2;
  await hangUp(meter, server);
  const before = await meter.wal();
  const passes: Cost[] = [];
  const curve: CachedPoint[] = [];
  const costs = [await small.costs()];
  for (let part = 0; part < parts; part++) {
    let asked = server.asked.rankedStates;
    const onStep = (done: number): void => {
      const now = server.asked.rankedStates;
      curve.push({ outcomes: part * inPart + done, cached: 1 - (now - asked) / every / needed });
      asked = now;
    };
    passes.push(
      await measurePass(meter, engine, runs, server.asked, { outcomes: inPart, clients, next, every, onStep }),
    );
    onProgress("traffic", (part + 1) / parts);
    costs.push(await small.costs());
  }
  await hangUp(meter, server);
  const after = await meter.wal();
  const cost = meanCost(passes);
  return {
    traffic: {
      ...cost,
      walBytes: (after.bytes - before.bytes) / outcomes,
      images: (after.images - before.images) / outcomes,
      cached: 1 - cost.asked.rankedStates / needed,
      growth: (await sizeOf(meter, plan.schema)) - contents.total,
    },
    curve,
    costs,
  };
}

type Rates = Simulation["rates"];

/** Both servers in turn, so that a busy machine hits both alike. */
async function measureRates(
  { plan, small, onProgress }: Stage,
  { engine, runs, next }: Served,
): Promise<
  Pick<Simulation, "rates" | "latencies"> & {
    readonly smallRates: Rates;
    readonly smallLatencies: readonly Latencies[];
  }
> {
  const { duration } = plan;
  const [rates, smallRates] = [0, 1].map(() => plan.rates.map((clients) => ({ clients, rounds: [] as number[] }))) as [
    { clients: number; rounds: number[] }[],
    { clients: number; rounds: number[] }[],
  ];
  const latencies: Latency[] = [];
  const smallLatencies: Latencies[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    for (const [place, clients] of plan.rates.entries()) {
      smallLatencies.push(await small.latencies(CALLS));
      latencies.push(await measureLatency(engine, runs, { outcomes: CALLS, next }));
      smallRates[place]?.rounds.push(await small.rate(clients, duration));
      rates[place]?.rounds.push(await measureRate(engine, runs, { clients, duration, next }));
    }
    onProgress("rates", (round + 1) / plan.rounds);
  }
  return { rates, latencies, smallRates, smallLatencies };
}

/** Outcomes of one tenant by many callers, between those of the small server. */
async function serveOne(
  { meter, server, plan, small }: Stage,
  { engine, runs, next }: Served,
): Promise<Pick<Simulation, "shared"> & { readonly smallShared: readonly Cost[] }> {
  const together = (outcomes: number): Promise<Cost> =>
    measurePass(meter, engine, runs, server.asked, { outcomes, clients: TOGETHER, next });
  const half = plan.outcomes / plan.parts / 2;
  const before = await small.shared(half);
  await together(TOGETHER);
  const shared = await together(2 * half);
  return { shared, smallShared: [before, await small.shared(half)] };
}

async function sizeOf(meter: ServerMeter, schema: string): Promise<number> {
  return (await meter.relations(schema)).reduce((sum, { bytes }) => sum + bytes, 0);
}

function meanCost(costs: readonly Cost[]): Cost {
  const of = (value: (cost: Cost) => number): number => mean(costs.map(value));
  return {
    app: of(({ app }) => app),
    database: of(({ database }) => database),
    walBytes: of(({ walBytes }) => walBytes),
    asked: {
      roundTrips: of(({ asked }) => asked.roundTrips),
      rankedStates: of(({ asked }) => asked.rankedStates),
      committedStates: of(({ asked }) => asked.committedStates),
      locked: of(({ asked }) => asked.locked),
    },
  };
}

async function cleanUp({ client, cpu }: ServerMeter): Promise<Simulation["vacuum"]> {
  const [before, begun] = [cpu(), performance.now()];
  await client.query("vacuum");
  return { cpu: cpu() - before, seconds: (performance.now() - begun) / 1_000 };
}

/** Lets a process meet every tenant, and says what it keeps of them. */
async function touchAll(
  engine: Engine,
  tenants: number,
  onProgress: (share: number) => void,
): Promise<Simulation["memory"]> {
  const memory = [{ tenants: 0, heap: heapInUse() }];
  const steps = 4;
  for (let step = 0; step < steps; step++) {
    let place = Math.floor((step * tenants) / steps);
    const end = Math.floor(((step + 1) * tenants) / steps);
    const client = async (): Promise<void> => {
      while (place < end) await engine.fetchSize({ namespace: tenantName(place++), topK: 1 });
    };
    await Promise.all(Array.from({ length: 16 }, client));
    memory.push({ tenants: end, heap: heapInUse() });
    onProgress((step + 1) / steps);
  }
  return memory;
}

/** Bytes in use after a collection, where node was started with `--expose-gc`. */
function heapInUse(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
