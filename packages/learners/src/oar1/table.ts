import { doubled, type MemoryTable, RowVectors, Sketches } from "@qavr/core/learner";
import { memoryCodec } from "./state.js";

const FIRST_CAPACITY = 16;

/** Memory states of `oar` in columns. */
export class Oar1Table implements MemoryTable {
  evidence: Float64Array = new Float64Array(FIRST_CAPACITY);
  advantage: Float64Array = new Float64Array(FIRST_CAPACITY);
  lastRun: Float64Array = new Float64Array(FIRST_CAPACITY);
  /** Unix ms of each row's last outcome. */
  at: Float64Array = new Float64Array(FIRST_CAPACITY);
  readonly vectors: RowVectors = new RowVectors();
  readonly sketches: Sketches = new Sketches();
  readonly footprints: RowVectors = new RowVectors();
  #rows = 0;

  get size(): number {
    return this.vectors.size + this.sketches.size + this.footprints.size + 4 * this.evidence.byteLength;
  }

  put(bytes: Uint8Array, row: number = this.#rows): number {
    const state = memoryCodec.decode(bytes);
    if (row === this.#rows) this.#rows += 1;
    if (row === this.evidence.length) {
      this.evidence = doubled(this.evidence);
      this.advantage = doubled(this.advantage);
      this.lastRun = doubled(this.lastRun);
      this.at = doubled(this.at);
    }
    this.evidence[row] = state.evidence;
    this.advantage[row] = state.advantage;
    this.lastRun[row] = state.lastRun;
    this.at[row] = state.at;
    this.vectors.set(row, state.vector);
    this.sketches.set(row, state.vector);
    this.footprints.set(row, state.footprint);
    return row;
  }
}
