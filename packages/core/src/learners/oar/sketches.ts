import { fold } from "../../embedding/fold.js";
import { MAX_DIMS } from "../../embedding/request-vector.js";
import { toUnit } from "../../scoring/vectors.js";
import { doubled } from "../row-vectors.js";

/** ±1 for each value of a vector, by which it is folded. Part of the learner's version. */
export const FOLD_SIGNS: Int8Array = Int8Array.from({ length: MAX_DIMS }, (_, i) => {
  const mixed = Math.imul((i + 1) ^ 0x9e37, 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) & 0x1000 ? 1 : -1;
});

/** Values of a sketch: one cache line, enough to compare the directions of two memories. */
const SKETCH_DIMS = 16;

/** The directions of memories' vectors, each folded to unit length, row after row. */
export class Sketches {
  #values: Float32Array = new Float32Array(SKETCH_DIMS);

  /** About how many bytes it holds. */
  get size(): number {
    return this.#values.byteLength;
  }

  /** @param vector of any length; the sketch of an empty one is zero */
  set(row: number, vector: Float32Array): void {
    const start = row * SKETCH_DIMS;
    while (start >= this.#values.length) this.#values = doubled(this.#values);
    const sketch = this.#values.subarray(start, start + SKETCH_DIMS).fill(0);
    sketch.set(fold(vector, SKETCH_DIMS, FOLD_SIGNS));
    toUnit(sketch);
  }

  /**
   * Cosine of two rows' vectors, estimated from their sketches: 1 for equal directions, with a standard error of 1/4 for unrelated
   * ones. 0 for row −1.
   */
  cosine(a: number, b: number): number {
    if (a < 0 || b < 0) return 0;
    const values = this.#values;
    const startA = a * SKETCH_DIMS;
    const startB = b * SKETCH_DIMS;
    let sum0 = 0;
    let sum1 = 0;
    for (let i = 0; i < SKETCH_DIMS; i += 2) {
      sum0 += (values[startA + i] as number) * (values[startB + i] as number);
      sum1 += (values[startA + i + 1] as number) * (values[startB + i + 1] as number);
    }
    return sum0 + sum1;
  }
}
