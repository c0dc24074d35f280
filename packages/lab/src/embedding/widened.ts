import { normal, seededRandom } from "../random/seeded-random.js";
import { type DenseMatrix, denseMatrix } from "./sparse-matrix.js";
import { orthonormalize } from "./truncated-svd.js";

/** As many as common embedding models give. */
export const WIDE_DIMS = 1_536;

const SEED = 1_536;

/**
 * The same vectors in a space of {@link WIDE_DIMS}: turned by a fixed random isometry, so every inner product stays what it was
 * and no direction lies along an axis. Inner products do not change; projections do.
 */
export function widener(dims: number): (vector: Float32Array) => Float32Array {
  const { data } = randomBasis(dims);
  return (vector) => {
    const wide = new Float32Array(WIDE_DIMS);
    for (let row = 0; row < WIDE_DIMS; row++) {
      let sum = 0;
      for (let column = 0; column < dims; column++) {
        sum += (vector[column] as number) * (data[row * dims + column] as number);
      }
      wide[row] = sum;
    }
    return wide;
  };
}

/** Random directions at right angles, as columns. */
function randomBasis(columns: number): DenseMatrix {
  const random = seededRandom(SEED);
  const directions = denseMatrix(WIDE_DIMS, columns);
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < WIDE_DIMS; row++) directions.data[row * columns + column] = normal(random);
  }
  return orthonormalize(directions);
}
