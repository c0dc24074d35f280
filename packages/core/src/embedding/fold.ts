/**
 * A vector folded onto `dims` values: value i is added to place `i mod dims` with its sign. The numbers of values per place differ
 * by at most one. A vector of at most `dims` values is copied.
 *
 * @param signs ±1 for each value of the vector, or of a longer one
 */
export function fold(vector: ArrayLike<number>, dims: number, signs: Int8Array): Float32Array {
  if (vector.length <= dims) return new Float32Array(vector);
  const sums = new Float32Array(dims);
  for (let start = 0; start < vector.length; start += dims) {
    const end = Math.min(dims, vector.length - start);
    for (let place = 0; place < end; place++) {
      const i = start + place;
      sums[place] = (sums[place] as number) + (signs[i] as number) * (vector[i] as number);
    }
  }
  return sums;
}
