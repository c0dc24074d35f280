import { MAX_DIMS } from "../../embedding/projection.js";
import type { MemoryTable } from "../learner.js";
import { memoryCodec } from "./state.js";

const FIRST_CAPACITY = 16;
const BYTES_PER_ROW = MAX_DIMS * 4 + 8 + 8 + 2;

/**
 * States of `cav@1` in columns. All vectors lie in one array, row after row: fifty vectors that are fifty objects cost more
 * time to find in memory than to multiply.
 */
export class CavTable implements MemoryTable {
  evidence: Float64Array = new Float64Array(FIRST_CAPACITY);
  advantage: Float64Array = new Float64Array(FIRST_CAPACITY);
  /** Length of each row's vector, 0 to MAX_DIMS. */
  dims: Uint16Array = new Uint16Array(FIRST_CAPACITY);
  /** MAX_DIMS floats per row. */
  vectors: Float32Array = new Float32Array(FIRST_CAPACITY * MAX_DIMS);
  #rows = 0;

  get size(): number {
    return this.evidence.length * BYTES_PER_ROW;
  }

  put(bytes: Uint8Array, row: number = this.#rows): number {
    const { evidence, advantage, vector } = memoryCodec.decode(bytes);
    if (row === this.#rows) this.#rows += 1;
    if (row === this.evidence.length) this.#grow();
    this.evidence[row] = evidence;
    this.advantage[row] = advantage;
    this.dims[row] = vector.length;
    this.vectors.set(vector, row * MAX_DIMS);
    return row;
  }

  /**
   * `v · z` of each row whose vector is as long as `z`, NaN for the others and for −1. Each row is summed from its first value
   * to its last, so the result does not depend on its neighbours.
   *
   * Four rows at a time: their misses of the processor's caches overlap, and each value of `z` is loaded once for all four.
   */
  dots(rows: Int32Array, z: Float32Array): Float64Array {
    const { vectors, dims } = this;
    const length = z.length;
    const products = new Float64Array(rows.length).fill(Number.NaN);
    const places: number[] = [];
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row >= 0 && dims[row] === length) places.push(i);
    }
    const start = (place: number): number => (rows[places[place] as number] as number) * MAX_DIMS;
    let next = 0;
    for (; next + 4 <= places.length; next += 4) {
      const a = start(next);
      const b = start(next + 1);
      const c = start(next + 2);
      const d = start(next + 3);
      let sumA = 0;
      let sumB = 0;
      let sumC = 0;
      let sumD = 0;
      for (let i = 0; i < length; i++) {
        const value = z[i] as number;
        sumA += (vectors[a + i] as number) * value;
        sumB += (vectors[b + i] as number) * value;
        sumC += (vectors[c + i] as number) * value;
        sumD += (vectors[d + i] as number) * value;
      }
      products[places[next] as number] = sumA;
      products[places[next + 1] as number] = sumB;
      products[places[next + 2] as number] = sumC;
      products[places[next + 3] as number] = sumD;
    }
    for (; next < places.length; next++) {
      const a = start(next);
      let sum = 0;
      for (let i = 0; i < length; i++) sum += (vectors[a + i] as number) * (z[i] as number);
      products[places[next] as number] = sum;
    }
    return products;
  }

  #grow(): void {
    const { evidence, advantage, dims, vectors } = this;
    this.evidence = new Float64Array(evidence.length * 2);
    this.evidence.set(evidence);
    this.advantage = new Float64Array(advantage.length * 2);
    this.advantage.set(advantage);
    this.dims = new Uint16Array(dims.length * 2);
    this.dims.set(dims);
    this.vectors = new Float32Array(vectors.length * 2);
    this.vectors.set(vectors);
  }
}
