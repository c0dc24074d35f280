import type { MemoryTable } from "../learner.js";
import { doubled, RowVectors } from "../row-vectors.js";
import { Sketches } from "./sketches.js";
import { memoryCodec } from "./state.js";

const FIRST_CAPACITY = 16;

/** Room of a memory's numbers: one cache line. */
export const ROW = 8;

/** Memory states of `oar`. */
export class OarTable implements MemoryTable {
  /** Of each row: Unix ms of its last outcome, evidence, reputation, last run and |v|, side by side, so that one cache miss brings all. */
  numbers: Float64Array = new Float64Array(FIRST_CAPACITY * ROW);
  readonly vectors: RowVectors = new RowVectors();
  readonly sketches: Sketches = new Sketches();
  #rows = 0;

  get size(): number {
    return this.vectors.size + this.sketches.size + this.numbers.byteLength;
  }

  put(bytes: Uint8Array, row: number = this.#rows): number {
    const { at, evidence, reputation, lastRun, vector } = memoryCodec.decode(bytes);
    if (row === this.#rows) this.#rows += 1;
    if (row * ROW === this.numbers.length) this.numbers = doubled(this.numbers);
    this.vectors.set(row, vector);
    this.sketches.set(row, vector);
    this.numbers.set([at, evidence, reputation, lastRun, this.vectors.norm[row] as number], row * ROW);
    return row;
  }
}
