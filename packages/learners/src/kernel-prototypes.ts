import {
  addScaled,
  contribute,
  DecodedTable,
  type Defined,
  dimsOf,
  dot,
  FINITE,
  type FieldRule,
  finiteVector,
  type Learner,
  MAX_DIMS,
  NOT_NEGATIVE,
  observeSpread,
  problemOf,
  resolveOptions,
  type StateCodec,
  scoreOneByOne,
  spreadScale,
  toUnit,
  UNIT,
  whole,
  withdraw,
} from "@qavr/core/learner";
import { type BaselineShared, baselineCodec, learnSurprise, withdrawSteps } from "./request-baseline.js";
import { advantages, countable, shrunkMean, type WeightedSum } from "./weighted-sum.js";

/** Settings of the `kernelPrototypes` learner. */
export interface KernelPrototypesOptions {
  /** Most prototypes of a memory. Whole number in [1, 64]. Each takes 1 KiB at 256 dims. @default 8 */
  readonly prototypes?: number | undefined;
  /** Least cosine at which a request joins its nearest prototype, in [0, 1]. @default 0.6 */
  readonly mergeFrom?: number | undefined;
  /** Weight of a utility against similarity, at a spread of 0.1. At least 0. @default 1.5 */
  readonly weight?: number | undefined;
}

const KERNEL_PROTOTYPES_DEFAULTS: Defined<KernelPrototypesOptions> = {
  prototypes: 8,
  mergeFrom: 0.6,
  weight: 1.5,
};

/** Exponent of the kernel, which falls with the angle. Range 1..6. */
const KERNEL_POWER = 3;
/** Outcomes of similar requests that count as much as the memory's own mean. Range 0.5..5. */
const LOCAL_SHRINKAGE = 1;
/** Outcomes at which that mean counts half. Range 1..20. */
const GLOBAL_SHRINKAGE = 4;

/** More would make a memory's state too large. */
const MOST_PROTOTYPES = 64;

const KERNEL_PROTOTYPES_RULES: Readonly<Record<keyof KernelPrototypesOptions, FieldRule>> = {
  prototypes: whole(1, MOST_PROTOTYPES),
  mergeFrom: UNIT,
  weight: NOT_NEGATIVE,
};

/**
 * **Kernel prototypes**, `kernel-prototypes@1`: each memory has up to eight prototypes of its requests, with the mean advantage of their
 * runs.
 *
 *     k_j   = max(0, q · p_j)³                       p_j: unit sum of the requests that joined prototype j
 *     u     = (Σ k_j A_j + g) / (Σ k_j N_j + 1)      A_j = Σ w·(r − b), N_j = Σ w;  g = A / (N + 4) over all runs
 *     score = similarity + 1.5 σ' · u                σ': running spread of the collection's similarities over 0.1
 *
 * A request joins its nearest prototype at a cosine of at least 0.6, or when all eight exist; otherwise it founds one. `b` is the
 * expected success of such a request, learned online.
 *
 * - **State**: up to 8 KiB per memory at 256 dims, and eight times the work of one vector to score; one vector per collection.
 * - **Not order-independent**: prototypes depend on the order of requests. A correction takes its part back from the prototype that it
 *   joined: sums to the bit, requests up to float32 rounding. Requests that joined because of it stay.
 * - **Wrong choice** when state or time is scarce, or when requests are so diverse that none joins another: eight prototypes then mix
 *   unrelated kinds.
 * - Without a request vector it is `globalAdvantage`. Votes, relevance and use are ignored.
 * - **Source**: Nadaraya 1964 and Watson 1964 for the kernel mean; prototypes as in learning vector quantisation.
 *
 * @throws INVALID_ARGUMENT
 */
export function kernelPrototypes(
  options: KernelPrototypesOptions = {},
): Learner<BaselineShared, KernelMemory, DecodedTable<KernelMemory>> {
  const settings = resolveOptions("kernelPrototypes", options, KERNEL_PROTOTYPES_DEFAULTS, KERNEL_PROTOTYPES_RULES);
  const { prototypes: most, mergeFrom, weight } = settings;

  /** Returns the prototype that a request joins. */
  function prototypeFor(memory: KernelMemory, q: Float32Array): Prototype {
    const known = nearest(memory, q);
    if (known && (known.cosine >= mergeFrom || memory.prototypes.length >= most)) return known.prototype;
    const taken = new Set(memory.prototypes.map(({ key }) => key));
    let key = 0;
    while (taken.has(key)) key += 1;
    const founded: Prototype = { key, sum: 0, evidence: 0, requests: new Float32Array(q.length) };
    memory.prototypes.push(founded);
    return founded;
  }

  return {
    id: "kernel-prototypes@1",
    shared: baselineCodec,
    memory: kernelCodec,
    createTable: () => new DecodedTable(unitCodec),

    score(request) {
      const { shared, similarities, vector } = request;
      const scale = weight * spreadScale(shared, similarities);
      return scoreOneByOne(request, {
        utility: (memory) => (memory ? localUtility(memory, vector) : 0),
        evidence: ({ evidence }) => evidence,
        score: (similarity, utility) => similarity + scale * utility,
      });
    },

    observe: observeSpread,

    learn(lesson) {
      const learned = learnSurprise(lesson);
      if (!learned) return contribute(lesson, {});
      return contribute(lesson, {
        collection: (_, place) => learned.steps[place] as readonly number[],
        memory({ memory }, { vector }) {
          const added = advantages.add(memory, learned.surprise, lesson.weight);
          // Imported prototypes may lie in a space of other dims.
          const length = memory.prototypes[0]?.requests.length ?? vector?.length;
          if (!vector || vector.length !== length) return added;
          const prototype = prototypeFor(memory, vector);
          advantages.add(prototype, learned.surprise, lesson.weight);
          addScaled(prototype.requests, lesson.weight, vector);
          return [...added, lesson.weight, prototype.key];
        },
      });
    },

    unlearn(lesson, contribution) {
      withdraw(lesson, contribution, {
        collection: withdrawSteps,
        memory({ memory }, added, { vector }) {
          advantages.remove(memory, added);
          const [, , joined = 0, key] = added;
          const prototype = memory.prototypes.find((candidate) => candidate.key === key);
          if (prototype && vector) {
            advantages.remove(prototype, added);
            addScaled(prototype.requests, -joined, vector);
            memory.prototypes = memory.prototypes.filter(({ evidence }) => evidence > 0);
          }
          if (memory.evidence === 0) memory.prototypes = [];
        },
      });
    },

    discount: keepPrototypes,
    describe: (memory) => ({ utility: globalUtility(memory), evidence: memory.evidence }),
    summarize: ({ lessons, spread, baseline }) => ({ lessons, spread, dims: baseline.length }),
  };
}

/** A kind of request that a memory was shown for, and its advantage there. */
interface Prototype extends WeightedSum {
  /** Its number in contributions: the smallest free whole number. */
  readonly key: number;
  /** Σ weight · request. Float32Array of the collection's dims. */
  readonly requests: Float32Array;
}

/** One memory: its advantage over all requests, and by kinds of request. */
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
const kernelCodec: StateCodec<KernelMemory> = {
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

/** Keeps a share of the evidence; prototypes without any left are removed. */
function keepPrototypes(memory: KernelMemory, share: number): void {
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

/** A memory with its prototypes as unit vectors, for scoring and joining. */
function unitPrototypes(memory: KernelMemory): KernelMemory {
  return {
    ...memory,
    prototypes: memory.prototypes.map((prototype) => ({ ...prototype, requests: toUnit(prototype.requests.slice()) })),
  };
}

/** `max(0, cos)³`: weight of a prototype's evidence for a request. */
export function kernel(cosine: number): number {
  return cosine > 0 ? cosine ** KERNEL_POWER : 0;
}

/** `A / (N + 4)`: the memory's advantage over all requests. */
function globalUtility(memory: KernelMemory): number {
  return shrunkMean(memory, 0, GLOBAL_SHRINKAGE);
}

/**
 * `(Σ k_j A_j + g) / (Σ k_j N_j + 1)` with `g = A / (N + 4)`: the mean advantage near the request, drawn to the memory's own. `g`
 * itself without a vector.
 *
 * @param memory with unit prototypes
 */
function localUtility(memory: KernelMemory, q: Float32Array | undefined): number {
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
function nearest(
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

/** Decodes prototypes as unit vectors, computed once when a state is read. */
const unitCodec: StateCodec<KernelMemory> = {
  ...kernelCodec,
  decode: (bytes) => unitPrototypes(kernelCodec.decode(bytes)),
};
