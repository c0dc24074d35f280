import type { MemoryTable } from "../learner.js";
import { doubled, RowVectors } from "../row-vectors.js";
import { Sketches } from "./sketches.js";
import { memoryCodec } from "./state.js";

const FIRST_CAPACITY = 16;
const COLUMNS = ["evidence", "reputation", "lastRun", "at"] as const;

/** Memory states of `oar` in columns. */
export class OarTable implements MemoryTable {
  evidence: Float64Array = new Float64Array(FIRST_CAPACITY);
  reputation: Float64Array = new Float64Array(FIRST_CAPACITY);
  lastRun: Float64Array = new Float64Array(FIRST_CAPACITY);
  /** Unix ms of each row's last outcome. */
  at: Float64Array = new Float64Array(FIRST_CAPACITY);
  readonly vectors: RowVectors = new RowVectors();
  readonly sketches: Sketches = new Sketches();
  #rows = 0;

  get size(): number {
    return this.vectors.size + this.sketches.size + 4 * this.evidence.byteLength;
  }

  put(bytes: Uint8Array, row: number = this.#rows): number {
    const state = memoryCodec.decode(bytes);
    if (row === this.#rows) this.#rows += 1;
    if (row === this.evidence.length) for (const column of COLUMNS) this[column] = doubled(this[column]);
    for (const column of COLUMNS) this[column][row] = state[column];
    this.vectors.set(row, state.vector);
    this.sketches.set(row, state.vector);
    return row;
  }
}
