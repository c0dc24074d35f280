import type { MemoryTable, StateCodec } from "./learner.js";

/** A table of decoded states, for learners whose states are small. */
export class DecodedTable<Memory> implements MemoryTable {
  readonly #codec: StateCodec<Memory>;
  readonly #states: Memory[] = [];
  #size = 0;

  constructor(codec: StateCodec<Memory>) {
    this.#codec = codec;
  }

  get size(): number {
    return this.#size;
  }

  put(bytes: Uint8Array, row: number = this.#states.length): number {
    if (row === this.#states.length) this.#size += bytes.length;
    this.#states[row] = this.#codec.decode(bytes);
    return row;
  }

  /** The state of a row, undefined for −1. */
  at(row: number): Memory | undefined {
    return this.#states[row];
  }
}
