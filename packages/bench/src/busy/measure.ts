import { createEngine, type Engine, memoryStore, type Store } from "@qavr/core";
import { type Random, seededRandom } from "@qavr/lab";
import { postgresStore } from "@qavr/postgres";
import { startServer } from "@qavr/postgres-server";
import { meanOf } from "../scale/measure.js";
import { SETTINGS, type Watched, watch } from "../scale/plant.js";
import { steadyClock } from "../scale/tenants.js";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { distinct, memoryId } from "../stores/outcome-workload.js";

export interface BusyPlan {
  /** Outcomes that wait for one commit. */
  readonly waiting: readonly number[];
  /** Outcomes of each size in each round, and rounds. */
  readonly outcomes: number;
  readonly rounds: number;
}

export const FULL: BusyPlan = {
  waiting: [1, 10, 50, 200, 1_000],
  outcomes: 1_000,
  rounds: 3,
};

export const LOOK: BusyPlan = {
  ...FULL,
  outcomes: 400,
  waiting: [1, 50, 200],
  rounds: 2,
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

export interface BusyResults {
  readonly plan: BusyPlan;
  readonly batches: readonly Batch[];
}

/** Memories of the namespace, candidates of a request, and memories shown. */
export const BUSY = { memories: 300, candidates: 20, shown: 5, dims: 256 } as const;
const SEED = 41;
const VECTORS = 200;
/** Rankings that prepare a commit, at once. */
const RANKINGS = 50;

/** Ranks runs first, and times how their outcomes are recorded together. All sizes in turn, round by round. */
export async function measureBusy(
  plan: BusyPlan,
  onProgress: (share: number) => void = () => {},
): Promise<BusyResults> {
  const { waiting, outcomes, rounds } = plan;
  await using server = await startServer({ settings: { ...SETTINGS } });
  const watched = await watch(server);
  try {
    const stores = [
      { name: "in memory" as const, open: () => memoryStore() as Store },
      { name: "PostgreSQL" as const, open: () => postgresStore(server.url()) as Store },
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
    return { plan, batches: found };
  } finally {
    await watched.end();
  }
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

function asker(): () => Parameters<Engine["rank"]>[0] {
  const random: Random = seededRandom(SEED);
  const vectors = embeddingLikeVectors({ count: VECTORS, dims: BUSY.dims, seed: SEED });
  return () => ({
    namespace: "busy",
    vector: vectors[Math.floor(random() * VECTORS)] as Float32Array,
    candidates: distinct(BUSY.candidates, BUSY.memories, random).map((place, rank) => ({
      id: memoryId(place),
      similarity: 0.9 - 0.01 * rank,
    })),
    topK: BUSY.shown,
  });
}
