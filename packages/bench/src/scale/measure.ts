import type { Engine } from "@qavr/core";
import { mean, median, seededRandom, shuffle } from "@qavr/lab";
import { memoryId } from "../stores/outcome-workload.js";
import { type DiskBytes, diskBytes, totalBytes } from "./disk.js";
import { fillTenants } from "./fill.js";
import { openPlant, type Plant } from "./plant.js";
import { createRuns, type Runs, runOnce, TENANT, tenantName } from "./tenants.js";
import { drawRanks, zipfShares } from "./zipf.js";

export interface ScalePlan {
  /** Tenants of the small server. */
  readonly calibrated: number;
  /** Sizes that the large server grows through. */
  readonly sizes: readonly number[];
  /** Outcomes of the traffic, in so many parts. */
  readonly outcomes: number;
  readonly parts: number;
  readonly clients: number;
  /** Numbers of clients whose rate is measured, each for `duration` ms in each round. */
  readonly rates: readonly number[];
  readonly rounds: number;
  readonly duration: number;
}

/** The published plan: a quarter of an hour, 5 GB of disk. */
export const FULL: ScalePlan = {
  calibrated: 1_000,
  sizes: [1_000, 10_000, 100_000],
  outcomes: 20_000,
  parts: 5,
  clients: 8,
  rates: [1, 2, 4, 8, 16],
  rounds: 3,
  duration: 2_500,
};

/** Two minutes. */
export const LOOK: ScalePlan = {
  ...FULL,
  calibrated: 500,
  sizes: [1_000, 5_000],
  outcomes: 3_000,
  parts: 3,
  rounds: 2,
  duration: 1_500,
};

/** Means per outcome, each with its ranking. */
export interface Cost {
  /** CPU time of the application and of the server, µs. */
  readonly app: number;
  readonly server: number;
  /** Bytes in the server's log. */
  readonly log: number;
  readonly roundTrips: number;
  /** States that the ranking asked the server for. */
  readonly states: number;
}

/** Measurements of a small and a large server. *Warm*: the process has the tenant's states; *cold*: it has never met the tenant. */
export interface ScaleResults {
  readonly plan: ScalePlan;
  readonly disk: {
    readonly small: DiskBytes;
    readonly large: DiskBytes;
    /** Bytes of all tables at each size, and the growth by the traffic. */
    readonly totals: readonly number[];
    readonly growth: number;
  };
  /** Middle time of one caller that reads all states of a cold tenant, at each size, µs. */
  readonly reads: { readonly small: readonly number[]; readonly large: readonly number[] };
  readonly costs: { readonly warm: Cost; readonly cold: Cost; readonly traffic: Cost };
  /** Outcomes of one tenant by fifty callers, which share commits. */
  readonly together: { readonly small: Cost; readonly large: Cost };
  /** Outcomes per second by number of clients, one number per round. */
  readonly rates: readonly {
    readonly clients: number;
    readonly small: readonly number[];
    readonly large: readonly number[];
  }[];
}

export interface ScaleOptions {
  /** Of both servers. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly onProgress?: (share: number) => void;
}

const SEED = 83;
/** Tenants whose states are read for one middle time, at most. */
const READS = 200;
/** Callers of one tenant that share commits. */
const TOGETHER = 50;

/** One process and the tenants that its requests come from. */
interface Process {
  readonly plant: Plant;
  readonly engine: Engine;
  readonly runs: Runs;
  next(): number;
}

/** Measures both servers side by side, so that a busy machine slows both: the small one visited evenly, the large one by Zipf's law. */
export async function measureScale(
  plan: ScalePlan,
  { settings, onProgress = () => {} }: ScaleOptions = {},
): Promise<ScaleResults> {
  const small = await openPlant(settings);
  const large = await openPlant(settings);
  try {
    const { calibrated, sizes, parts, rounds } = plan;
    const tenants = sizes.at(-1) as number;
    const runs = createRuns(SEED);
    await fill(small, 0, calibrated);
    const grown = await grow(small, large, plan, (share) => onProgress(0.4 * share));
    const disk = { small: await diskBytes(small.client), large: await diskBytes(large.client) };

    const even = everyTenant(calibrated);
    const known: Process = { plant: small, engine: small.engine(), runs, next: even };
    const fresh = (): Process => ({ ...known, engine: small.engine() });
    const draw = drawRanks(zipfShares(tenants), seededRandom(SEED));
    // The busiest tenants are copies like the others: the first ones are the originals.
    const busy: Process = { plant: large, engine: large.engine(), runs, next: () => tenants - 1 - draw() };

    const costs: Record<"warm" | "cold" | "traffic", Cost[]> = { warm: [], cold: [], traffic: [] };
    for (let part = 0; part < parts; part++) {
      costs.traffic.push(await pass(busy, plan, plan.outcomes / parts));
      // Not counted: this process is new, or the last cold one has changed its states.
      for (let again = 0; again < 2; again++) await pass(known, plan, calibrated);
      costs.warm.push(await pass(known, plan, calibrated));
      costs.cold.push(await pass(fresh(), plan, calibrated));
      onProgress(0.4 + (0.3 * (part + 1)) / parts);
    }
    const growth = (await totalBytes(large.client)) - (grown.totals.at(-1) as number);

    const rates = plan.rates.map((clients) => ({ clients, small: [] as number[], large: [] as number[] }));
    for (let round = 0; round < rounds; round++) {
      for (const rate of rates) {
        rate.small.push(await ratePerSecond(known, rate.clients, plan.duration));
        rate.large.push(await ratePerSecond(busy, rate.clients, plan.duration));
      }
      onProgress(0.7 + (0.2 * (round + 1)) / rounds);
    }

    const one = (process: Process): Promise<Cost> =>
      pass({ ...process, next: () => 0 }, { clients: TOGETHER }, plan.outcomes / parts);
    const together = { small: await one(known), large: await one(busy) };
    onProgress(1);
    return {
      plan,
      disk: { ...disk, totals: grown.totals, growth },
      reads: grown.reads,
      costs: { warm: meanOf(costs.warm), cold: meanOf(costs.cold), traffic: meanOf(costs.traffic) },
      together,
      rates,
    };
  } finally {
    await small.close();
    await large.close();
  }
}

async function fill(plant: Plant, from: number, to: number): Promise<void> {
  await fillTenants(plant.store(), plant.client, { from, to });
  await plant.client.query("vacuum (freeze, analyze)");
  await plant.client.query("checkpoint");
}

/** Fills the large server step by step, and reads tenants of both at each size. */
async function grow(
  small: Plant,
  large: Plant,
  { calibrated, sizes }: ScalePlan,
  onProgress: (share: number) => void,
): Promise<Pick<ScaleResults, "reads"> & Pick<ScaleResults["disk"], "totals">> {
  const random = seededRandom(SEED);
  const ids = Array.from({ length: TENANT.memories }, (_, place) => memoryId(place));
  const reads = { small: [] as number[], large: [] as number[] };
  const totals: number[] = [];
  for (const [place, size] of sizes.entries()) {
    await fill(large, sizes[place - 1] ?? 0, size);
    totals.push(await totalBytes(large.client));
    const subjects = [
      { store: small.store(), tenants: calibrated, spent: [] as number[] },
      { store: large.store(), tenants: size, spent: [] as number[] },
    ] as const;
    for (let read = 0; read < Math.min(READS, calibrated); read++) {
      for (const { store, tenants, spent } of subjects) {
        const begun = performance.now();
        await store.readStates(tenantName(Math.floor(random() * tenants)), "memory:default", ids);
        spent.push(1_000 * (performance.now() - begun));
      }
    }
    reads.small.push(median(subjects[0].spent));
    reads.large.push(median(subjects[1].spent));
    onProgress((place + 1) / sizes.length);
  }
  return { reads, totals };
}

/** The cost of whole runs, from retrieval to outcome, by clients that begin the next run when the last has ended. */
async function pass(
  { plant, engine, runs, next }: Process,
  { clients }: Pick<ScalePlan, "clients">,
  outcomes: number,
): Promise<Cost> {
  const [log, server, app, asked] = [await plant.log(), plant.cpu(), process.cpuUsage(), { ...plant.asked }];
  let begun = 0;
  await atOnce(clients, async () => {
    while (begun < outcomes) {
      begun += 1;
      await runOnce(engine, tenantName(next()), runs);
    }
  });
  const spent = process.cpuUsage(app);
  return {
    app: (spent.user + spent.system) / outcomes,
    server: (plant.cpu() - server) / outcomes,
    log: ((await plant.log()) - log) / outcomes,
    roundTrips: (plant.asked.roundTrips - asked.roundTrips) / outcomes,
    states: (plant.asked.states - asked.states) / outcomes,
  };
}

/** Outcomes per second of clients that go on for so many ms. */
async function ratePerSecond({ engine, runs, next }: Process, clients: number, duration: number): Promise<number> {
  const begun = performance.now();
  let done = 0;
  await atOnce(clients, async () => {
    while (performance.now() - begun < duration) {
      await runOnce(engine, tenantName(next()), runs);
      done += 1;
    }
  });
  return done / ((performance.now() - begun) / 1_000);
}

export async function atOnce(clients: number, client: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: clients }, client));
}

export function meanOf<Numbers extends Readonly<Record<keyof Numbers, number>>>(all: readonly Numbers[]): Numbers {
  const keys = Object.keys(all[0] as Numbers) as (keyof Numbers)[];
  return Object.fromEntries(keys.map((key) => [key, mean(all.map((one) => one[key]))])) as Numbers;
}

/** All tenants, in another order each time. */
export function everyTenant(tenants: number): () => number {
  const random = seededRandom(SEED);
  const places = Array.from({ length: tenants }, (_, place) => place);
  let waiting: number[] = [];
  return () => {
    if (waiting.length === 0) waiting = shuffle([...places], random);
    return waiting.pop() as number;
  };
}
