import { normal, seededRandom } from "../random/seeded-random.js";

/** As many as common embedding models give. */
export const WIDE_DIMS = 1_536;

const SEED = 1_536;

/**
 * The same vectors in a space of {@link WIDE_DIMS}: turned by a fixed random isometry, so every inner product stays what it was
 * and no direction lies along an axis. Whoever computes with inner products alone notices nothing; whoever projects does.
 */
export function widener(dims: number): (vector: Float32Array) => Float32Array {
  const basis = orthonormal(dims);
  return (vector) => {
    const wide = new Float64Array(WIDE_DIMS);
    for (const [i, direction] of basis.entries()) addScaled(wide, vector[i] as number, direction);
    return Float32Array.from(wide);
  };
}

/** Random unit vectors at right angles (Gram and Schmidt). */
function orthonormal(count: number): readonly Float64Array[] {
  const random = seededRandom(SEED);
  const basis: Float64Array[] = [];
  while (basis.length < count) {
    const direction = Float64Array.from({ length: WIDE_DIMS }, () => normal(random));
    for (const other of basis) addScaled(direction, -dot(direction, other), other);
    const length = Math.sqrt(dot(direction, direction));
    basis.push(direction.map((value) => value / length));
  }
  return basis;
}

function addScaled(target: Float64Array, factor: number, direction: Float64Array): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) + factor * (direction[i] as number);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}
