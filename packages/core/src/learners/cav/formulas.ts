import { clamp } from "../../scoring/bounds.js";
import { dot } from "../../scoring/vectors.js";
import { CAV } from "./parameters.js";
import type { CavMemory, CavShared } from "./state.js";

/**
 * Expected extra success of showing the memory to the request `z`: the shrunk, advantage-weighted mean of its past requests.
 *
 *     u = v · z / (n + 32)          0 for a memory that never taught
 */
export function utility(memory: CavMemory, z: Float32Array): number {
  return memory.vector.length === z.length ? shrunk(dot(memory.vector, z), memory.evidence) : 0;
}

/** An advantage of `evidence` runs, believed as far as they reach. */
export function shrunk(advantage: number, evidence: number): number {
  return advantage / (evidence + CAV.shrinkage);
}

/** The expected advantage whatever the request: `a / (n + 5)`. */
export function scalarUtility(advantage: number, evidence: number): number {
  return advantage / (evidence + CAV.scalarShrinkage);
}

/**
 * How far learning may move the order, in [0.25, 1]: the slope of runs' surprises on what was predicted for them, so that
 * learning loses its influence where its predictions do not come true (noise, changed habits, nothing to learn).
 *
 *     α = clamp(num / (den + 0.5), 0, 1)        gate = 0.25 + 0.75 · min(1, α / 0.35)
 */
export function gate(shared: CavShared): number {
  const slope = clamp(shared.gateNumerator / (shared.gateDenominator + CAV.gatePrior), 0, 1);
  return CAV.gateFloor + (1 - CAV.gateFloor) * Math.min(1, slope / CAV.gateFull);
}

/**
 * How surprising the run was for one memory.
 *
 *     no votes in the run   g
 *     voted helpful         max(g, 0) + 0.5
 *     voted harmful         min(g, 0) − 0.5
 *     not voted on          g / 2
 */
export function votedAdvantage(surprise: number, vote: -1 | 0 | 1, voted: boolean): number {
  if (vote > 0) return Math.max(surprise, 0) + CAV.voteStep;
  if (vote < 0) return Math.min(surprise, 0) - CAV.voteStep;
  return voted ? surprise * CAV.unvotedShare : surprise;
}
