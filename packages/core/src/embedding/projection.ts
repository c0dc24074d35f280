/** Request vectors longer than this are projected; shorter ones stay as they are. */
export const MAX_DIMS = 256;

/** Non-zero entries of the projection matrix per input dimension. */
const NONZEROS = 4;

/** Where each input dimension goes: NONZEROS output indices, and their signs. */
interface SparseMatrix {
  readonly rows: Uint8Array;
  readonly signs: Int8Array;
}

const matrices = new Map<number, SparseMatrix>();

/**
 * Fixed signed sparse random projection to {@link MAX_DIMS} dimensions: input i adds ±x_i to four outputs that depend on i
 * alone. Preserves angles up to about 1/√256; the same input gives the same output in every process and version `cav@1`.
 * Vectors of at most MAX_DIMS values are copied.
 */
export function project(vector: ArrayLike<number>): Float32Array {
  if (vector.length <= MAX_DIMS) return new Float32Array(vector);
  const { rows, signs } = matrixFor(vector.length);
  const projected = new Float32Array(MAX_DIMS);
  for (let i = 0, entry = 0; i < vector.length; i++) {
    const value = vector[i] as number;
    for (let j = 0; j < NONZEROS; j++, entry++) {
      const row = rows[entry] as number;
      projected[row] = (projected[row] as number) + (signs[entry] as number) * value;
    }
  }
  return projected;
}

/** The matrix is a pure function of the length; remembering it only saves time. Few lengths occur in one process. */
function matrixFor(length: number): SparseMatrix {
  const known = matrices.get(length);
  if (known) return known;
  const rows = new Uint8Array(length * NONZEROS);
  const signs = new Int8Array(length * NONZEROS);
  for (let entry = 0; entry < rows.length; entry++) {
    const bits = mix(entry + 1);
    rows[entry] = bits & 0xff;
    signs[entry] = bits & 0x100 ? 1 : -1;
  }
  const matrix = { rows, signs };
  matrices.set(length, matrix);
  return matrix;
}

/** Integer finaliser: neighbouring inputs give unrelated bits. */
function mix(input: number): number {
  let x = Math.imul(input, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
