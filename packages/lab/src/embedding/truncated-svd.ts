import { CholeskyDecomposition, EigenvalueDecomposition, inverse, Matrix } from "ml-matrix";
import { normal, seededRandom } from "../random/seeded-random.js";
import { type DenseMatrix, denseMatrix, multiply, multiplyTransposed, type SparseMatrix } from "./sparse-matrix.js";

/** Extra directions carried along for accuracy and dropped at the end. */
const OVERSAMPLING = 10;
/** Power iterations; each sharpens the gap between kept and dropped directions. */
const ITERATIONS = 4;

export interface SvdOptions {
  /** How many right singular vectors to find. */
  readonly components: number;
  /** Called after each step with the share done, 0..1. */
  readonly onProgress?: (share: number) => void;
}

/**
 * The leading right singular vectors of a sparse n × m matrix, as the columns of an m × components matrix, by randomised
 * subspace iteration (Halko, Martinsson & Tropp 2011, algorithm 4.4) run on the n-dimensional side, which is the short one
 * here: Q ← orth(A·Aᵀ·Q) from a random Q, then Rayleigh and Ritz on QᵀAAᵀQ = UΛUᵀ gives V = Aᵀ·Q·U·Λ^−½.
 *
 * Fewer columns come back when the matrix has a smaller side; directions without weight are zero.
 */
export function rightSingularVectors(a: SparseMatrix, { components, onProgress }: SvdOptions): DenseMatrix {
  const kept = Math.min(components, a.rows, a.columns);
  const width = Math.min(kept + OVERSAMPLING, a.rows, a.columns);
  const random = seededRandom(0);
  let basis = denseMatrix(a.rows, width);
  for (let i = 0; i < basis.data.length; i++) basis.data[i] = normal(random);
  for (let step = 1; step <= ITERATIONS; step++) {
    basis = multiply(a, multiplyTransposed(a, basis));
    // Two steps multiply the columns' spread by (σ₁/σₖ)⁴, which double precision still tells apart; orthonormalising is the dear part.
    if (step % 2 === 0 || step === ITERATIONS) basis = orthonormalize(basis);
    onProgress?.(step / (ITERATIONS + 2));
  }
  const small = crossProduct(basis, multiply(a, multiplyTransposed(a, basis)));
  onProgress?.((ITERATIONS + 1) / (ITERATIONS + 2));
  const eigen = new EigenvalueDecomposition(small, { assumeSymmetric: true });
  // Ascending from ml-matrix; the last columns are the leading ones.
  const order = eigen.realEigenvalues.map((value, column) => ({ value, column })).sort((x, y) => y.value - x.value);
  const leading = order.slice(0, kept);
  const rotation = new Matrix(width, kept);
  leading.forEach(({ value, column }, target) => {
    const scale = value > 1e-12 ? 1 / Math.sqrt(value) : 0;
    for (let row = 0; row < width; row++) rotation.set(row, target, eigen.eigenvectorMatrix.get(row, column) * scale);
  });
  const vectors = multiplyTransposed(a, multiplySmall(basis, rotation));
  onProgress?.(1);
  return vectors;
}

/** Orthonormal columns that span the same space, by Cholesky: YᵀY = L·Lᵀ, Q = Y·L^−ᵀ. */
export function orthonormalize(y: DenseMatrix): DenseMatrix {
  const gram = crossProduct(y, y);
  // A ridge far below any direction that matters keeps rank-deficient input (tiny corpora) positive definite.
  const ridge = 1e-14 * gram.trace();
  for (let i = 0; i < y.columns; i++) gram.set(i, i, gram.get(i, i) + ridge);
  const lower = new CholeskyDecomposition(gram).lowerTriangularMatrix;
  return multiplySmall(y, inverse(lower).transpose());
}

/** XᵀY for two matrices with the same number of rows, symmetric in value when X = Y. */
function crossProduct(x: DenseMatrix, y: DenseMatrix): Matrix {
  const sum = new Float64Array(x.columns * y.columns);
  for (let row = 0; row < x.rows; row++) {
    const left = row * x.columns;
    const right = row * y.columns;
    for (let i = 0; i < x.columns; i++) {
      const value = x.data[left + i]!;
      const out = i * y.columns;
      // The lower triangle is enough: both uses are symmetric.
      for (let j = 0; j <= i; j++) sum[out + j]! += value * y.data[right + j]!;
    }
  }
  const product = new Matrix(x.columns, y.columns);
  for (let i = 0; i < x.columns; i++) {
    for (let j = 0; j <= i; j++) {
      product.set(i, j, sum[i * y.columns + j]!);
      product.set(j, i, sum[i * y.columns + j]!);
    }
  }
  return product;
}

/** Tall × small, four terms of each sum at a time: a quarter of the stores. */
function multiplySmall(tall: DenseMatrix, small: Matrix): DenseMatrix {
  const product = denseMatrix(tall.rows, small.columns);
  const inner = tall.columns;
  const width = small.columns;
  const padded = Math.ceil(inner / 4) * 4;
  const factor = new Float64Array(padded * width);
  factor.set(small.to1DArray());
  const left = new Float64Array(padded);
  for (let row = 0; row < tall.rows; row++) {
    left.set(tall.data.subarray(row * inner, (row + 1) * inner));
    const out = row * width;
    for (let k = 0; k < padded; k += 4) {
      const [a, b, c, d] = [left[k]!, left[k + 1]!, left[k + 2]!, left[k + 3]!];
      const first = k * width;
      const second = first + width;
      const third = second + width;
      const fourth = third + width;
      for (let j = 0; j < width; j++) {
        product.data[out + j]! +=
          a * factor[first + j]! + b * factor[second + j]! + c * factor[third + j]! + d * factor[fourth + j]!;
      }
    }
  }
  return product;
}
