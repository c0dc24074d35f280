import type { Engine, RankRequest } from "@qavr/core";
import { type Random, seededRandom, shuffle } from "../random/seeded-random.js";
import { embeddingLikeVectors } from "../speed/embedding-like-vectors.js";
import { memoryId } from "../stores/outcome-workload.js";

/** What every tenant looks like. */
export interface TenantShape {
  /** Memories of its host, all of which are candidates of every request. */
  readonly memories: number;
  /** Memories that a run is shown. */
  readonly shown: number;
  /** Length of request vectors, stored as they are. */
  readonly dims: number;
  /** Runs that it has behind it. */
  readonly history: number;
}

/** As many candidates as the engine asks for by itself, four per memory shown. */
export const TENANT: TenantShape = { memories: 20, shown: 5, dims: 256, history: 4 };

/** Request vectors that come again and again. */
const VECTORS = 200;
const START = 1_700_000_000_000;

/** Runs of any tenant, one after the other or at once. */
export interface Runs {
  readonly requests: Random;
  readonly vectors: readonly Float32Array[];
  readonly shape: TenantShape;
}

export function tenantName(place: number): string {
  return `tenant-${String(place).padStart(6, "0")}`;
}

export function createRuns(shape: TenantShape, seed: number): Runs {
  return {
    requests: seededRandom(seed),
    vectors: embeddingLikeVectors({ count: VECTORS, dims: shape.dims, seed }),
    shape,
  };
}

/** A retrieval: asks how many candidates to fetch, as adapters do, and ranks them. Returns the episode. */
export async function rankOnce(engine: Engine, namespace: string, runs: Runs): Promise<string> {
  const request = requestOf(namespace, runs);
  await engine.fetchSize({ namespace, topK: runs.shape.shown });
  return (await engine.rank(request)).episode;
}

/** A run from retrieval to outcome: a fair coin, from a checker. One commit of two entries. */
export async function runOnce(engine: Engine, namespace: string, runs: Runs): Promise<void> {
  const episode = await rankOnce(engine, namespace, runs);
  await engine.end(episode, { reward: runs.requests() < 0.5, tier: "verified" });
}

/** All of the tenant's memories, in an order that has nothing to do with the last one. */
function requestOf(namespace: string, { requests, vectors, shape }: Runs): RankRequest {
  const places = shuffle(
    Array.from({ length: shape.memories }, (_, place) => place),
    requests,
  );
  return {
    namespace,
    vector: vectors[Math.floor(requests() * vectors.length)] as Float32Array,
    candidates: places.map((place, rank) => ({ id: memoryId(place), similarity: 0.9 - 0.01 * rank })),
    topK: shape.shown,
  };
}

/** A clock that stands between runs, so that what is written does not depend on how fast it was. */
export function steadyClock(): () => number {
  let now = START;
  return () => (now += 1);
}
