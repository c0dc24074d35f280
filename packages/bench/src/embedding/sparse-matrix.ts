/** Compressed sparse rows: row i holds `values[starts[i] … starts[i + 1])` in the columns of the same places. */
export interface SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly starts: Int32Array;
  readonly indices: Int32Array;
  readonly values: Float64Array;
}

/** Row-major dense matrix: element (i, j) is `data[i * columns + j]`. */
export interface DenseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

export function denseMatrix(rows: number, columns: number): DenseMatrix {
  return { rows, columns, data: new Float64Array(rows * columns) };
}

/** A · B, with A sparse (n × m) and B dense (m × l): n × l. */
export function multiply(a: SparseMatrix, b: DenseMatrix): DenseMatrix {
  const product = denseMatrix(a.rows, b.columns);
  const width = b.columns;
  for (let row = 0; row < a.rows; row++) {
    const out = row * width;
    for (let place = a.starts[row] as number; place < (a.starts[row + 1] as number); place++) {
      const value = a.values[place] as number;
      const source = (a.indices[place] as number) * width;
      for (let j = 0; j < width; j++) product.data[out + j]! += value * b.data[source + j]!;
    }
  }
  return product;
}

/** Aᵀ · B, with A sparse (n × m) and B dense (n × l): m × l. */
export function multiplyTransposed(a: SparseMatrix, b: DenseMatrix): DenseMatrix {
  const product = denseMatrix(a.columns, b.columns);
  const width = b.columns;
  for (let row = 0; row < a.rows; row++) {
    const source = row * width;
    for (let place = a.starts[row] as number; place < (a.starts[row + 1] as number); place++) {
      const value = a.values[place] as number;
      const out = (a.indices[place] as number) * width;
      for (let j = 0; j < width; j++) product.data[out + j]! += value * b.data[source + j]!;
    }
  }
  return product;
}
