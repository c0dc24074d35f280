import { mix } from "./mix.js";

/** Request vectors longer than this are projected; shorter ones stay as they are. */
export const MAX_DIMS = 256;

/** Lengths whose sketches are remembered: as many embedding models as one process may meet. */
const REMEMBERED_LENGTHS = 16;

const sketches = new Map<number, Int16Array>();

/**
 * Fixed signed sparse random projection to {@link MAX_DIMS} dimensions (a count sketch): input i adds +x_i or −x_i to one
 * output, both drawn from i alone. Inner products of unit vectors keep their value with a standard error of at most
 * √2/16; the same input gives the same output in every process. Vectors of at most MAX_DIMS values are copied.
 */
export function project(vector: ArrayLike<number>): Float32Array {
  const { length } = vector;
  if (length <= MAX_DIMS) return new Float32Array(vector);
  const sketch = sketchFor(length);
  const projected = new Float32Array(MAX_DIMS);
  for (let i = 0; i < length; i++) {
    const target = sketch[i] as number;
    const value = vector[i] as number;
    if (target < 0) projected[~target] = (projected[~target] as number) - value;
    else projected[target] = (projected[target] as number) + value;
  }
  return projected;
}

/** Output index of each input, as its complement where the sign is negative. A pure function: remembering it only saves time. */
function sketchFor(length: number): Int16Array {
  const known = sketches.get(length);
  if (known) return known;
  const sketch = new Int16Array(length);
  for (let i = 0; i < length; i++) {
    const bits = mix(i + 1);
    sketch[i] = bits & 0x100 ? ~(bits & 0xff) : bits & 0xff;
  }
  for (const oldest of sketches.keys()) {
    if (sketches.size < REMEMBERED_LENGTHS) break;
    sketches.delete(oldest);
  }
  sketches.set(length, sketch);
  return sketch;
}
