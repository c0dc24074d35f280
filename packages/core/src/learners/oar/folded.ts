import { toUnit } from "../../scoring/vectors.js";

/** A vector folded to `dims` values (a count sketch of fixed signs), unit length; short ones stay as they are. */
export function folded(z: Float32Array, dims: number): Float32Array {
  if (z.length <= dims) return z;
  const sum = new Float32Array(dims);
  for (let i = 0; i < z.length; i++) {
    const place = i % dims;
    sum[place] = (sum[place] as number) + (SIGNS[i] as number) * (z[i] as number);
  }
  return toUnit(sum);
}

/** ±1 for each of at most 256 inputs, drawn from its number alone. */
const SIGNS: Int8Array = Int8Array.from({ length: 256 }, (_, i) => {
  const mixed = Math.imul((i + 1) ^ 0x9e37, 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) & 0x1000 ? 1 : -1;
});
