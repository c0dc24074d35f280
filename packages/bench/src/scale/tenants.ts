import type { Engine, RankRequest } from "@qavr/core";
import { type Random, seededRandom, shuffle } from "@qavr/lab";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { memoryId } from "../stores/outcome-workload.js";

/** Every tenant. Its memories are all candidates of every request: four per memory shown, as the engine asks for by itself. */
export const TENANT = {
  memories: 20,
  /** Memories that a run is shown. */
  shown: 5,
  /** Length of request vectors, stored as they are. */
  dims: 256,
  /** Runs before the first measurement. */
  history: 4,
} as const;

/** Request vectors that come again and again. */
const VECTORS = 200;
const START = 1_700_000_000_000;

/** Runs of any tenant, one after the other or at once. */
export interface Runs {
  readonly requests: Random;
  readonly vectors: readonly Float32Array[];
}

export function tenantName(place: number): string {
  return `tenant-${String(place).padStart(6, "0")}`;
}

export function createRuns(seed: number): Runs {
  return {
    requests: seededRandom(seed),
    vectors: embeddingLikeVectors({ count: VECTORS, dims: TENANT.dims, seed }),
  };
}

/** A retrieval: asks how many candidates to fetch, as adapters do, and ranks them. Returns the episode. */
export async function rankOnce(engine: Engine, namespace: string, runs: Runs): Promise<string> {
  const request = requestOf(namespace, runs);
  await engine.fetchSize({ namespace, topK: TENANT.shown });
  return (await engine.rank(request)).episode;
}

/** A run from retrieval to outcome: a fair coin, from a checker. One commit of two entries. */
export async function runOnce(engine: Engine, namespace: string, runs: Runs): Promise<void> {
  const episode = await rankOnce(engine, namespace, runs);
  await engine.end(episode, { reward: runs.requests() < 0.5, tier: "verified" });
}

/** All of the tenant's memories, shuffled. */
function requestOf(namespace: string, { requests, vectors }: Runs): RankRequest {
  const places = shuffle(
    Array.from({ length: TENANT.memories }, (_, place) => place),
    requests,
  );
  return {
    namespace,
    vector: vectors[Math.floor(requests() * vectors.length)] as Float32Array,
    candidates: places.map((place, rank) => ({ id: memoryId(place), similarity: 0.9 - 0.01 * rank })),
    topK: TENANT.shown,
  };
}

/** A clock that advances one ms per call, so that written rows do not depend on the machine's speed. */
export function steadyClock(): () => number {
  let now = START;
  return () => (now += 1);
}
