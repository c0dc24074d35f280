import { createEngine, type Engine, memoryStore, type Store } from "@qavr/core";
import { type Interval, interval, mean, type Random, seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { engineArm } from "../learning/engine-arm.js";
import { runTrial } from "../learning/protocol.js";
import { prepare, worldOf } from "../learning/run-job.js";
import { meanOf } from "../scale/measure.js";
import { SETTINGS, type Watched, watch } from "../scale/plant.js";
import { steadyClock } from "../scale/tenants.js";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { distinct, memoryId } from "../stores/outcome-workload.js";
import { MERGES, type Merge, subLedgers } from "./sub-ledgers.js";

export interface BusyPlan {
  /** Outcomes that wait for one commit. */
  readonly waiting: readonly number[];
  /** Outcomes of each size in each round, and rounds. */
  readonly outcomes: number;
  readonly rounds: number;
  /** Numbers of sub-ledgers. */
  readonly counts: readonly number[];
  readonly sets: readonly TrialSet[];
  readonly seeds: readonly number[];
  /** Runs of each world. */
  readonly runs: number;
  /** Rankings that read from sub-ledgers, which have twice as many runs each. */
  readonly reads: number;
}

type TrialSet = "banking77" | "clinc150";

export const FULL: BusyPlan = {
  waiting: [1, 10, 50, 200, 1_000],
  outcomes: 1_000,
  rounds: 3,
  counts: [2, 8],
  sets: ["banking77", "clinc150"],
  seeds: [1, 2, 3, 4],
  runs: 3_000,
  reads: 200,
};

export const LOOK: BusyPlan = {
  ...FULL,
  outcomes: 400,
  waiting: [1, 50, 200],
  rounds: 2,
  counts: [4],
  sets: ["banking77"],
  seeds: [1, 2],
  runs: 1_000,
};

/** Outcomes of one namespace that are recorded together, without their rankings. */
export interface Batch {
  readonly store: "in memory" | "PostgreSQL";
  readonly waiting: number;
  /** Outcomes per second, by round. */
  readonly rates: readonly number[];
  /** CPU time per outcome, µs. */
  readonly app: number;
  readonly server: number;
}

/** A ranking that reads from several sub-ledgers, states not cached. */
export interface MergedRead {
  readonly count: number;
  /** CPU time of application and server per ranking, µs. */
  readonly app: number;
  readonly server: number;
}

/** Success on held-out requests after the runs of a simulated world: the difference from one ledger, paired by set and seed. */
export interface Learned {
  readonly count: number;
  readonly merge: Merge;
  readonly final: Interval;
}

export interface BusyResults {
  readonly plan: BusyPlan;
  readonly batches: readonly Batch[];
  readonly reads: readonly MergedRead[];
  readonly one: { readonly final: number };
  readonly learned: readonly Learned[];
}

/** Memories of the namespace, candidates of a request, and memories shown. */
export const BUSY = { memories: 300, candidates: 20, shown: 5, dims: 256, read: 50 } as const;
const SEED = 41;
const VECTORS = 200;
/** Rankings that prepare a commit, at once. */
const RANKINGS = 50;

export async function measureBusy(
  plan: BusyPlan,
  onProgress: (share: number) => void = () => {},
): Promise<BusyResults> {
  const batches = await measureBatches(plan, (share) => onProgress(0.3 * share));
  const reads = await measureReads(plan);
  const learning = await measureLearning(plan, (share) => onProgress(0.3 + 0.7 * share));
  return { plan, batches, reads, ...learning };
}

/** Runs work on a PostgreSQL server of its own. */
async function onServer<Result>(work: (url: string, watched: Watched) => Promise<Result>): Promise<Result> {
  await using server = await startServer({ settings: { ...SETTINGS } });
  const watched = await watch(server);
  try {
    return await work(server.url(), watched);
  } finally {
    await watched.end();
  }
}

/** Ranks runs first, and times how their outcomes are recorded together. All sizes in turn, round by round. */
async function measureBatches(
  { waiting, outcomes, rounds }: BusyPlan,
  onProgress: (share: number) => void,
): Promise<readonly Batch[]> {
  return onServer(async (url, watched) => {
    const stores = [
      { name: "in memory" as const, open: () => memoryStore() as Store },
      { name: "PostgreSQL" as const, open: () => postgresStore(url) as Store },
    ];
    const found: Batch[] = [];
    for (const [place, { name, open }] of stores.entries()) {
      const engine = createEngine({ store: open(), clock: steadyClock(), readTimeout: 60_000, writeTimeout: 60_000 });
      const ask = asker();
      // One round more, which is not counted.
      const rates = waiting.map((): number[] => []);
      const costs = waiting.map((): { app: number; server: number }[] => []);
      for (let round = -1; round < rounds; round++) {
        for (const [size, count] of waiting.entries()) {
          const spent = { app: 0, server: 0, time: 0 };
          for (let done = 0; done < outcomes; done += count) {
            const episodes = await ranked(engine, ask, count);
            const one = await spentOn(watched, () => ended(engine, episodes));
            spent.app += one.app;
            spent.server += one.server;
            spent.time += one.time;
          }
          if (round < 0) continue;
          const recorded = Math.ceil(outcomes / count) * count;
          rates[size]?.push((1_000 * recorded) / spent.time);
          costs[size]?.push({ app: spent.app / recorded, server: spent.server / recorded });
        }
        onProgress((place + (round + 2) / (rounds + 1)) / stores.length);
      }
      await engine.close();
      for (const [size, count] of waiting.entries()) {
        found.push({ store: name, waiting: count, rates: rates[size] as number[], ...meanOf(costs[size] ?? []) });
      }
    }
    return found;
  });
}

/** CPU time of application and server, µs, and the time by the clock, ms, that some work takes. */
async function spentOn(
  watched: Watched,
  work: () => Promise<void>,
): Promise<{ readonly app: number; readonly server: number; readonly time: number }> {
  const [app, server, begun] = [process.cpuUsage(), watched.cpu(), performance.now()];
  await work();
  const time = performance.now() - begun;
  const { user, system } = process.cpuUsage(app);
  return { app: user + system, server: watched.cpu() - server, time };
}

/** Records the outcomes of runs together; half of them went well. */
async function ended(engine: Engine, episodes: readonly string[]): Promise<void> {
  await Promise.all(episodes.map((episode, run) => engine.end(episode, { reward: run % 2, tier: "verified" })));
}

async function ranked(engine: Engine, ask: () => Parameters<Engine["rank"]>[0], count: number): Promise<string[]> {
  const episodes: string[] = [];
  while (episodes.length < count) {
    const some = Array.from({ length: Math.min(RANKINGS, count - episodes.length) }, () => engine.rank(ask()));
    episodes.push(...(await Promise.all(some)).map(({ episode }) => episode));
  }
  return episodes;
}

function asker(namespace = "busy"): () => Parameters<Engine["rank"]>[0] {
  const random: Random = seededRandom(SEED);
  const vectors = embeddingLikeVectors({ count: VECTORS, dims: BUSY.dims, seed: SEED });
  return () => ({
    namespace,
    vector: vectors[Math.floor(random() * VECTORS)] as Float32Array,
    candidates: distinct(BUSY.candidates, BUSY.memories, random).map((place, rank) => ({
      id: memoryId(place),
      similarity: 0.9 - 0.01 * rank,
    })),
    topK: BUSY.shown,
  });
}

/** The reads of a ranking over several sub-ledgers, each with the states of the same memories. */
async function measureReads({ counts, reads }: BusyPlan): Promise<readonly MergedRead[]> {
  return onServer(async (url, watched) => {
    const store = postgresStore({ connectionString: url, cacheBytes: 0 });
    const names = Array.from({ length: Math.max(...counts) }, (_, place) => `busy-${place}`);
    const engine = createEngine({ store, clock: steadyClock(), readTimeout: 60_000, writeTimeout: 60_000 });
    for (const name of names) {
      await ended(engine, await ranked(engine, asker(name), 2 * reads));
    }
    const ids = Array.from({ length: BUSY.read }, (_, place) => memoryId(place));
    const read = (count: number): Promise<unknown> =>
      Promise.all(names.slice(0, count).map((name) => store.readStates(name, "memory:default", ids)));
    const found: MergedRead[] = [];
    for (const count of [1, ...counts]) {
      for (let warm = 0; warm < reads; warm++) await read(count);
      const { app, server } = await spentOn(watched, async () => {
        for (let turn = 0; turn < reads; turn++) await read(count);
      });
      found.push({ count, app: app / reads, server: server / reads });
    }
    await engine.close();
    return found;
  });
}

async function measureLearning(
  { sets, seeds, counts, runs }: BusyPlan,
  onProgress: (share: number) => void,
): Promise<Pick<BusyResults, "one" | "learned">> {
  const variants = counts.flatMap((count) => MERGES.map((merge) => ({ count, merge })));
  const ones: number[] = [];
  const others = variants.map((): number[] => []);
  let done = 0;
  for (const set of sets) {
    const { split, retrieval } = await prepare(set);
    for (const seed of seeds) {
      const whole = worldOf({ set, scenario: "main", seed }, split);
      const world = { ...whole, stream: whole.stream.slice(0, runs) };
      const success = async (count: number, merge: Merge): Promise<number> => {
        const learner = () => subLedgers(count, merge) as never;
        const { checkpoints } = await runTrial(world, retrieval, () => engineArm(world, { learner }), []);
        return checkpoints.at(-1)?.success as number;
      };
      ones.push(await success(1, "mean"));
      for (const [place, { count, merge }] of variants.entries()) others[place]?.push(await success(count, merge));
      done += 1;
      onProgress(done / (sets.length * seeds.length));
    }
  }
  return {
    one: { final: mean(ones) },
    learned: variants.map((variant, place) => ({
      ...variant,
      final: interval((others[place] as number[]).map((one, trial) => one - (ones[trial] as number))),
    })),
  };
}
