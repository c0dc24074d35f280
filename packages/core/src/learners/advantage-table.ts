import { advantageVectorCodec } from "./advantage-vector.js";
import type { MemoryTable } from "./learner.js";
import { doubled, RowVectors } from "./row-vectors.js";

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
