import { MAX_DIMS } from "../../embedding/request-vector.js";
import { countable } from "../../scoring/countable.js";
import { dimsOf } from "../advantage-vector.js";
import type { StateCodec } from "../learner.js";
import { FINITE, type FieldRule, finiteVector, NOT_NEGATIVE, problemOf, whole } from "../legality.js";
import { advantages, type WeightedSum } from "../weighted-sum.js";

/** A kind of request that a memory was shown to, and what came of it. */
export interface Prototype extends WeightedSum {
  /** Names it in contributions. A whole number, the smallest that was free. */
  readonly key: number;
  /** Σ weight · request. Float32Array of the collection's dims. */
  readonly requests: Float32Array;
}

/** One memory: its advantage whatever the request, and by kinds of request. */
export interface KernelMemory extends WeightedSum {
  prototypes: Prototype[];
}

const HEADER = 3;
const SCALARS = 3;

const PROTOTYPE_RULES: Readonly<Record<string, FieldRule>> = {
  key: whole(0),
  sum: FINITE,
  evidence: NOT_NEGATIVE,
  requests: finiteVector(MAX_DIMS),
};
const MEMORY_RULES: Readonly<Record<string, FieldRule>> = { prototypes: [isPrototypes, "prototypes of one length"] };

function isPrototypes(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const prototypes = value as Prototype[];
  return prototypes.every(
    (prototype) =>
      problemOf(prototype, PROTOTYPE_RULES) === undefined &&
      prototype.requests.length === prototypes[0]?.requests.length,
  );
}

/**
 * `[sum, evidence, number of prototypes]`, then `[key, sum, evidence]` of each, as float64; then their requests as float32. Empty
 * while nothing was learned. Little-endian.
 */
export const kernelCodec: StateCodec<KernelMemory> = {
  empty: () => ({ sum: 0, evidence: 0, prototypes: [] }),
  decode(bytes) {
    const [sum, evidence, count] = new Float64Array(bytes.buffer, bytes.byteOffset, HEADER) as unknown as [
      number,
      number,
      number,
    ];
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset + HEADER * 8, count * SCALARS);
    const start = (HEADER + count * SCALARS) * 8;
    const dims = count === 0 ? 0 : dimsOf((bytes.length - start) / 4 / count);
    const prototypes = Array.from({ length: count }, (_, i): Prototype => {
      const [key, part, weight] = scalars.subarray(i * SCALARS) as unknown as [number, number, number];
      const requests = new Float32Array(bytes.buffer, bytes.byteOffset + start + i * dims * 4, dims);
      return { key, sum: part, evidence: weight, requests };
    });
    return { sum, evidence, prototypes };
  },
  encode({ sum, evidence, prototypes }, room) {
    if (evidence === 0) return new Uint8Array(room);
    const dims = prototypes[0]?.requests.length ?? 0;
    const start = room + (HEADER + prototypes.length * SCALARS) * 8;
    const bytes = new Uint8Array(start + prototypes.length * dims * 4);
    const scalars = [sum, evidence, prototypes.length];
    prototypes.forEach((prototype, i) => {
      scalars.push(prototype.key, prototype.sum, prototype.evidence);
      new Float32Array(bytes.buffer, start + i * dims * 4, dims).set(prototype.requests);
    });
    new Float64Array(bytes.buffer, room, scalars.length).set(scalars);
    return bytes;
  },
  problem: (state) => advantages.codec.problem(state) ?? problemOf(state, MEMORY_RULES),
};

/** Keeps a share of the evidence; prototypes of which nothing is left go. */
export function keepPrototypes(memory: KernelMemory, share: number): void {
  advantages.keep(memory, share);
  memory.prototypes = memory.prototypes
    .map((prototype) => ({
      ...prototype,
      sum: countable(prototype.sum * share),
      evidence: countable(prototype.evidence * share),
      requests: prototype.requests.map((value) => value * share),
    }))
    .filter(({ evidence }) => evidence > 0);
}
