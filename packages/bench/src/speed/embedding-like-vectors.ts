import { normal, seededRandom } from "@qavr/lab";

/** Vectors shaped as real embeddings are: few directions carry most of the variance, and topics form clusters. */
const SHAPE = {
  /** Directions that carry the signal. */
  latent: 48,
  clusters: 31,
  /** Spread of a vector around its cluster's centre, in units of the centres' spread. */
  spread: 0.8,
  /** Noise on every dimension, in units of the signal per dimension. */
  noise: 0.3,
} as const;

export interface EmbeddingLikeOptions {
  readonly count: number;
  readonly dims: number;
  readonly seed: number;
}

/** A source of unit vectors: clustered points of a 48-dimensional latent space, rotated into `dims` dimensions, plus noise. */
export function embeddingLikeVectors({ count, dims, seed }: EmbeddingLikeOptions): readonly Float32Array[] {
  const random = seededRandom(seed);
  const normals = (length: number): Float64Array => Float64Array.from({ length }, () => normal(random));
  const directions = Array.from({ length: SHAPE.latent }, () => normals(dims));
  const centres = Array.from({ length: SHAPE.clusters }, () => normals(SHAPE.latent));
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * SHAPE.clusters)] as Float64Array;
    const vector = new Float64Array(dims);
    for (let axis = 0; axis < SHAPE.latent; axis++) {
      const strength = centre[axis]! + SHAPE.spread * normal(random);
      const direction = directions[axis]!;
      for (let i = 0; i < dims; i++) vector[i]! += strength * direction[i]!;
    }
    const noise = SHAPE.noise * Math.sqrt(SHAPE.latent);
    for (let i = 0; i < dims; i++) vector[i]! += noise * normal(random);
    return unit(vector);
  });
}

function unit(vector: Float64Array): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / length);
}
