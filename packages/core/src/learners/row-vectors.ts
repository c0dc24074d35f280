import { dot } from "../scoring/vectors.js";

const FIRST_CAPACITY = 16;

/**
 * Vectors in one array, row after row. Fifty separate objects would cost more time in cache misses than in arithmetic. All rows
 * take as much room as the longest one.
 */
export class RowVectors {
  /** How many values each row has. */
  dims: Uint16Array = new Uint16Array(FIRST_CAPACITY);
  /** |v| of each row. */
  norm: Float64Array = new Float64Array(FIRST_CAPACITY);
  /** Room of a row: the length of the longest. */
  #stride = 0;
  #values: Float32Array = new Float32Array(0);

  /** About how many bytes it holds. */
  get size(): number {
    return this.#values.byteLength + this.norm.byteLength + this.dims.byteLength;
  }

  set(row: number, vector: Float32Array): void {
    while (row >= this.dims.length) this.#grow();
    if (vector.length > this.#stride) this.#widen(vector.length);
    this.dims[row] = vector.length;
    this.norm[row] = Math.sqrt(dot(vector, vector));
    this.#values.set(vector, row * this.#stride);
  }

  /**
   * `v · z` of each row whose vector is as long as `z`, NaN for the others and for −1. Each row is summed from its first value
   * to its last, so the result does not depend on other rows.
   *
   * Ten rows are multiplied at a time: their cache misses overlap, and each value of `z` is loaded once for all ten. The usual
   * fifty, forty or twenty candidates leave no rest.
   *
   * @param products takes the values, and is returned
   */
  dots(rows: Int32Array, z: Float32Array, products: Float64Array = new Float64Array(rows.length)): Float64Array {
    const vectors = this.#values;
    const length = z.length;
    const count = rows.length;
    if (length > this.#stride) return products.fill(Number.NaN);
    for (let next = 0; next < count; next += 10) {
      const a = this.#start(rows, next);
      const b = this.#start(rows, next + 1);
      const c = this.#start(rows, next + 2);
      const d = this.#start(rows, next + 3);
      const e = this.#start(rows, next + 4);
      const f = this.#start(rows, next + 5);
      const g = this.#start(rows, next + 6);
      const h = this.#start(rows, next + 7);
      const i = this.#start(rows, next + 8);
      const j = this.#start(rows, next + 9);
      let sumA = 0;
      let sumB = 0;
      let sumC = 0;
      let sumD = 0;
      let sumE = 0;
      let sumF = 0;
      let sumG = 0;
      let sumH = 0;
      let sumI = 0;
      let sumJ = 0;
      for (let place = 0; place < length; place++) {
        const value = z[place] as number;
        sumA += (vectors[a + place] as number) * value;
        sumB += (vectors[b + place] as number) * value;
        sumC += (vectors[c + place] as number) * value;
        sumD += (vectors[d + place] as number) * value;
        sumE += (vectors[e + place] as number) * value;
        sumF += (vectors[f + place] as number) * value;
        sumG += (vectors[g + place] as number) * value;
        sumH += (vectors[h + place] as number) * value;
        sumI += (vectors[i + place] as number) * value;
        sumJ += (vectors[j + place] as number) * value;
      }
      // Writes beyond the end of a typed array have no effect.
      products[next] = sumA;
      products[next + 1] = sumB;
      products[next + 2] = sumC;
      products[next + 3] = sumD;
      products[next + 4] = sumE;
      products[next + 5] = sumF;
      products[next + 6] = sumG;
      products[next + 7] = sumH;
      products[next + 8] = sumI;
      products[next + 9] = sumJ;
    }
    for (let i = 0; i < count; i++) {
      if ((rows[i] as number) < 0 || this.dims[rows[i] as number] !== length) products[i] = Number.NaN;
    }
    return products;
  }

  /** Start of a candidate's vector; that of row 0 for a candidate without a row or beyond the last, since its product is not used. */
  #start(rows: Int32Array, candidate: number): number {
    return candidate < rows.length ? Math.max(0, rows[candidate] as number) * this.#stride : 0;
  }

  #grow(): void {
    this.dims = doubled(this.dims);
    this.norm = doubled(this.norm);
    this.#values = doubled(this.#values);
  }

  /** Lays all rows out again. It is rare: a store's vectors come from one embedding model. */
  #widen(stride: number): void {
    const values = new Float32Array(this.dims.length * stride);
    this.dims.forEach((dims, row) => {
      const start = row * this.#stride;
      values.set(this.#values.subarray(start, start + dims), row * stride);
    });
    this.#values = values;
    this.#stride = stride;
  }
}

/** A copy of twice the length. */
export function doubled<Values extends Uint16Array | Float32Array | Float64Array>(values: Values): Values {
  const longer = new (values.constructor as new (length: number) => Values)(values.length * 2);
  longer.set(values);
  return longer;
}
