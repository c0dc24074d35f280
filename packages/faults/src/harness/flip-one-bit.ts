import type { Random } from "@qavr/lab";

/** A copy of `bytes` with one random bit flipped. */
export function flipOneBit(bytes: Uint8Array, random: Random): Buffer {
  const flipped = Buffer.from(bytes);
  const at = Math.floor(random() * flipped.length);
  flipped[at] = (flipped[at] as number) ^ (1 << Math.floor(random() * 8));
  return flipped;
}
