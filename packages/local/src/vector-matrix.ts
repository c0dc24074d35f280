import { BLOCK, dotProducts } from "./dot-products.js";
import { keepBest } from "./hits.js";

/** Vectors in memory, for an exact search: each is compared with the request. */
export interface VectorMatrix {
  /** Number of the newest vector. */
  readonly newest: number;
  /** Number of vectors that can be found. */
  readonly size: number;
  /** Number of rows, with those that cannot be found any more. */
  readonly rows: number;
  /** Adds a vector of a memory; an older one of the same memory is not found any more. */
  add(vector: number, memory: number, scope: number, values: Float32Array): void;
  /** Keeps only vectors with these numbers. */
  keep(vectors: ReadonlySet<number>): void;
  /** The memories of a scope that are nearest to a request, best first, with their cosines. */
  nearest(request: Float32Array, scope: number, limit: number, allowed: ReadonlySet<number> | undefined): Nearest[];
  /** Cosine of a memory and a request; undefined for a memory without a vector. */
  cosine(request: Float32Array, memory: number): number | undefined;
}

/** A memory near a request. */
export interface Nearest {
  readonly memory: number;
  /** Number of its vector. */
  readonly vector: number;
  /** In [−1, 1]. */
  readonly cosine: number;
}

/** Marks the row of a vector that must not be found. */
const GONE = -1;

/** @param dims Length of every vector; each has length 1, so that scalar products are cosines. */
export function vectorMatrix(dims: number): VectorMatrix {
  const products = dotProducts(dims);
  const vectors: number[] = [];
  const memories: number[] = [];
  const scopes: number[] = [];
  const rowOf = new Map<number, number>();

  return {
    get newest() {
      return vectors.at(-1) ?? 0;
    },
    get size() {
      return rowOf.size;
    },
    get rows() {
      return vectors.length;
    },
    add(vector, memory, scope, values) {
      const row = vectors.length;
      products.push(values);
      const older = rowOf.get(memory);
      if (older !== undefined) memories[older] = GONE;
      vectors.push(vector);
      memories.push(memory);
      scopes.push(scope);
      rowOf.set(memory, row);
    },
    keep(kept) {
      for (const [memory, row] of rowOf) {
        if (kept.has(vectors[row] as number)) continue;
        memories[row] = GONE;
        rowOf.delete(memory);
      }
    },
    nearest(request, scope, limit, allowed) {
      const best: Nearest[] = [];
      const boundsFrom = products.bounds(request);
      let bounds: Float32Array = new Float32Array();
      let worst = Number.NEGATIVE_INFINITY;
      for (let row = 0; row < memories.length; row++) {
        if (row % BLOCK === 0) bounds = boundsFrom(row);
        if ((bounds[row % BLOCK] as number) <= worst) continue;
        const memory = memories[row] as number;
        if (memory === GONE || scopes[row] !== scope || allowed?.has(memory) === false) continue;
        const cosine = products.exact(request, row);
        if (cosine <= worst) continue;
        keepBest(best, limit, { memory, vector: vectors[row] as number, cosine }, (a, b) => b.cosine - a.cosine);
        if (best.length === limit) worst = (best.at(-1) as Nearest).cosine;
      }
      return best;
    },
    cosine(request, memory) {
      const row = rowOf.get(memory);
      return row === undefined ? undefined : products.exact(request, row);
    },
  };
}
