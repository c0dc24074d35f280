import { dot, toUnit } from "../../scoring/vectors.js";
import { shrunkMean } from "../weighted-sum.js";
import { GLOBAL_SHRINKAGE, KERNEL_POWER, LOCAL_SHRINKAGE } from "./parameters.js";
import type { KernelMemory, Prototype } from "./state.js";

/** A memory's prototypes as unit vectors: what scoring and joining need of their requests. */
export function unitPrototypes(memory: KernelMemory): KernelMemory {
  return {
    ...memory,
    prototypes: memory.prototypes.map((prototype) => ({ ...prototype, requests: toUnit(prototype.requests.slice()) })),
  };
}

/** `max(0, cos)³`: how much of its evidence a prototype lends to a request. */
export function kernel(cosine: number): number {
  return cosine > 0 ? cosine ** KERNEL_POWER : 0;
}

/** `A / (N + 4)`: the memory's advantage whatever the request. */
export function globalUtility(memory: KernelMemory): number {
  return shrunkMean(memory, 0, GLOBAL_SHRINKAGE);
}

/**
 * `(Σ k_j A_j + g) / (Σ k_j N_j + 1)` with `g = A / (N + 4)`: the mean advantage near the request, drawn to the memory's own. `g`
 * itself without a vector.
 *
 * @param memory with unit prototypes
 */
export function localUtility(memory: KernelMemory, q: Float32Array | undefined): number {
  let sum = 0;
  let evidence = 0;
  for (const prototype of q ? memory.prototypes : []) {
    if (!q || prototype.requests.length !== q.length) continue;
    const near = kernel(dot(prototype.requests, q));
    sum += near * prototype.sum;
    evidence += near * prototype.evidence;
  }
  return shrunkMean({ sum, evidence }, globalUtility(memory), LOCAL_SHRINKAGE);
}

/** The prototype nearest to a request and its cosine; the first of equals. Undefined where there is none. */
export function nearest(
  memory: KernelMemory,
  q: Float32Array,
): { readonly prototype: Prototype; readonly cosine: number } | undefined {
  let best: { readonly prototype: Prototype; readonly cosine: number } | undefined;
  for (const prototype of memory.prototypes) {
    if (prototype.requests.length !== q.length) continue;
    const length = Math.sqrt(dot(prototype.requests, prototype.requests));
    const cosine = length > 0 ? dot(prototype.requests, q) / length : 0;
    if (!best || cosine > best.cosine) best = { prototype, cosine };
  }
  return best;
}
