/**
 * Inner product of two vectors of one length.
 *
 * Four partial sums run in parallel in the processor. The order of addition is fixed, so equal inputs give equal bits.
 */
export function dot(a: Float32Array, b: Float32Array): number {
  const length = a.length;
  const even = length & ~3;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (; i < even; i += 4) {
    s0 += (a[i] as number) * (b[i] as number);
    s1 += (a[i + 1] as number) * (b[i + 1] as number);
    s2 += (a[i + 2] as number) * (b[i + 2] as number);
    s3 += (a[i + 3] as number) * (b[i + 3] as number);
  }
  for (; i < length; i++) s0 += (a[i] as number) * (b[i] as number);
  return s0 + s1 + s2 + s3;
}

/** `target += factor · direction`, in place. Of two lengths, as imported states may bring, the shorter counts. */
export function addScaled(target: Float32Array, factor: number, direction: Float32Array): void {
  for (let i = 0; i < direction.length; i++) target[i] = (target[i] as number) + factor * (direction[i] as number);
}

/** Scales a vector to length 1 in place and returns it; a zero vector stays zero. */
export function toUnit(vector: Float32Array): Float32Array {
  const squared = dot(vector, vector);
  if (squared > 0) {
    const inverse = 1 / Math.sqrt(squared);
    for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * inverse;
  }
  return vector;
}

/**
 * `unit(a − share · b)`.
 *
 * @param difference takes the vector, and is returned
 */
export function unitDifference(
  a: Float32Array,
  b: Float32Array,
  share = 1,
  difference: Float32Array = new Float32Array(a.length),
): Float32Array {
  for (let i = 0; i < a.length; i++) difference[i] = (a[i] as number) - share * (b[i] as number);
  return toUnit(difference);
}
