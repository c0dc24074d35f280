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
  forEach(a, (row, column, value) => addRow(product, row, value, b, column));
  return product;
}

/** Aᵀ · B, with A sparse (n × m) and B dense (n × l): m × l. */
export function multiplyTransposed(a: SparseMatrix, b: DenseMatrix): DenseMatrix {
  const product = denseMatrix(a.columns, b.columns);
  forEach(a, (row, column, value) => addRow(product, column, value, b, row));
  return product;
}

function forEach(a: SparseMatrix, visit: (row: number, column: number, value: number) => void): void {
  for (let row = 0; row < a.rows; row++) {
    for (let place = a.starts[row] as number; place < (a.starts[row + 1] as number); place++) {
      visit(row, a.indices[place] as number, a.values[place] as number);
    }
  }
}

/** Row `to` of the sum += value · row `from` of b. */
function addRow(sum: DenseMatrix, to: number, value: number, b: DenseMatrix, from: number): void {
  const width = b.columns;
  for (let j = 0; j < width; j++) sum.data[to * width + j]! += value * b.data[from * width + j]!;
}
