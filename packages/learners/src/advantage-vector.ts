import {
  addScaled,
  dimsOf,
  dot,
  doubled,
  FINITE,
  finiteVector,
  MAX_DIMS,
  type MemoryTable,
  NOT_NEGATIVE,
  problemOf,
  RowVectors,
  type RunningSpread,
  type ScoreRequest,
  type Scores,
  type StateCodec,
  spreadScale,
} from "@qavr/core/learner";

/** State of one memory: how much better than expected runs went, and for which requests. */
export interface AdvantageVector {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Sum of weighted advantages, for all requests alike: it survives a change of embedding model. */
  advantage: number;
  /** Sum of weighted advantages along request vectors. Float32Array of the collection's dims, length 0 before the first. */
  vector: Float32Array;
}

/** Evidence below this is a rounding error of a correction. */
const NO_EVIDENCE = 1e-9;

const SCALARS = 2;

const RULES = { evidence: NOT_NEGATIVE, advantage: FINITE, vector: finiteVector(MAX_DIMS) };

/** `[evidence, advantage]` as float64, then the vector as float32; empty while nothing was learned. Little-endian. */
export const advantageVectorCodec: StateCodec<AdvantageVector> = {
  empty: () => ({ evidence: 0, advantage: 0, vector: new Float32Array(0) }),
  decode(bytes) {
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset, SCALARS);
    const offset = SCALARS * 8;
    return {
      evidence: scalars[0] as number,
      advantage: scalars[1] as number,
      vector: new Float32Array(bytes.buffer, bytes.byteOffset + offset, dimsOf((bytes.length - offset) / 4)),
    };
  },
  encode(state, room) {
    if (state.evidence === 0) return new Uint8Array(room);
    const bytes = new Uint8Array(room + SCALARS * 8 + state.vector.length * 4);
    const scalars = new Float64Array(bytes.buffer, room, SCALARS);
    scalars[0] = state.evidence;
    scalars[1] = state.advantage;
    new Float32Array(bytes.buffer, room + SCALARS * 8).set(state.vector);
    return bytes;
  },
  problem: (state) => problemOf(state, RULES),
};

/** A memory's logit for a request, `v · z`; 0 when request and memory share no vector space. */
export function memoryLogit({ vector }: AdvantageVector, z: Float32Array | undefined): number {
  return z && vector.length === z.length ? dot(vector, z) : 0;
}

/** Adds evidence and an advantage along a direction; negative ones take them back. */
export function addAlong(
  memory: AdvantageVector,
  evidence: number,
  advantage: number,
  direction: Float32Array | undefined,
): void {
  memory.evidence += evidence;
  memory.advantage += advantage;
  if (memory.evidence < NO_EVIDENCE) {
    memory.evidence = 0;
    memory.advantage = 0;
    memory.vector = new Float32Array(0);
    return;
  }
  if (!direction) return;
  if (memory.vector.length === 0) memory.vector = new Float32Array(direction.length);
  if (memory.vector.length === direction.length) addScaled(memory.vector, advantage, direction);
}

/** Keeps a share of a memory's evidence and advantages. */
export function keepAlong(memory: AdvantageVector, share: number): void {
  memory.evidence *= share;
  memory.advantage *= share;
  memory.vector = memory.vector.map((value) => value * share);
}

const FIRST_CAPACITY = 16;

/** Advantage vectors in columns. */
export class AdvantageTable implements MemoryTable {
  evidence: Float64Array = new Float64Array(FIRST_CAPACITY);
  advantage: Float64Array = new Float64Array(FIRST_CAPACITY);
  readonly #vectors = new RowVectors();
  #rows = 0;

  get size(): number {
    return this.#vectors.size + this.evidence.byteLength + this.advantage.byteLength;
  }

  /** |v| of each row. */
  get norm(): Float64Array {
    return this.#vectors.norm;
  }

  put(bytes: Uint8Array, row: number = this.#rows): number {
    const { evidence, advantage, vector } = advantageVectorCodec.decode(bytes);
    if (row === this.#rows) this.#rows += 1;
    if (row === this.evidence.length) {
      this.evidence = doubled(this.evidence);
      this.advantage = doubled(this.advantage);
    }
    this.evidence[row] = evidence;
    this.advantage[row] = advantage;
    this.#vectors.set(row, vector);
    return row;
  }

  /** `v · z` of each row whose vector is as long as `z`, NaN for the others and for −1. */
  dots(rows: Int32Array, z: Float32Array): Float64Array {
    return this.#vectors.dots(rows, z);
  }
}

/**
 * Similarity plus each memory's utility for the request, scaled by the collection's spread and unbounded:
 *
 *     score = similarity + weight · σ' · utility(v · z, n)
 *
 * A memory that learned without a vector, or in another space, keeps its similarity.
 *
 * @param z the request in the space of the vectors, unit norm; undefined when it has no vector
 * @param utility of a memory, from `v · z` and its evidence n > 0
 */
export function scoreAlong(
  { shared, table, rows, similarities }: ScoreRequest<RunningSpread, AdvantageTable>,
  z: Float32Array | undefined,
  weight: number,
  utility: (product: number, evidence: number) => number,
): Scores {
  const count = similarities.length;
  const scores = Float64Array.from(similarities);
  const utilities = new Float64Array(count);
  const evidence = new Float64Array(count);
  const scale = weight * spreadScale(shared, similarities);
  const products = z && table.dots(rows, z);
  let unchanged = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i] as number;
    if (row < 0) continue;
    evidence[i] = table.evidence[row] as number;
    const product = products ? (products[i] as number) : Number.NaN;
    if (Number.isNaN(product)) continue;
    unchanged = false;
    utilities[i] = utility(product, evidence[i] as number);
    scores[i] = (similarities[i] as number) + scale * (utilities[i] as number);
  }
  return { score: scores, utility: utilities, evidence, gate: 1, unchanged };
}
