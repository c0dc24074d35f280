import { clamp } from "../../scoring/bounds.js";
import { JAR, type JarSettingNumbers } from "./parameters.js";
import { type JarShared, wordsOf } from "./state.js";

/** The signs of a direction, one bit per value: two directions differ in about (angle / π) of their bits. */
function signatureOf(z: Float32Array, words: number): Int32Array {
  const signature = new Int32Array(words);
  for (let i = 0; i < z.length; i++) {
    if ((z[i] as number) > 0) signature[i >> 5] = (signature[i >> 5] as number) | (1 << (i & 31));
  }
  return signature;
}

/** Puts a request into the ring of those that were met. */
export function meet(shared: JarShared, z: Float32Array): void {
  const words = wordsOf(shared);
  const place = shared.met % JAR.log;
  if (place * words === shared.signatures.length) {
    const longer = new Int32Array(shared.signatures.length + words);
    longer.set(shared.signatures);
    shared.signatures = longer;
  }
  shared.signatures.set(signatureOf(z, words), place * words);
  shared.met += 1;
}

/**
 * How far learning may speak about a request, by how near the nearest request that was met lies: in [0, 1].
 *
 *     F = clamp((cos(π h / D) − slope · top − from) / width, 0, 1)        h: least Hamming distance of the signatures
 *
 * @param top the best similarity of the list, read as lying in [0, 1]: a good match needs less help from learning
 */
export function familiarity(
  shared: JarShared,
  z: Float32Array,
  top: number,
  { slope, from, width }: NonNullable<JarSettingNumbers["familiarity"]>,
): number {
  const { signatures } = shared;
  const words = wordsOf(shared);
  const own = signatureOf(z, words);
  let least = z.length;
  for (let start = 0; start < signatures.length; start += words) {
    let distance = 0;
    for (let word = 0; word < words; word++) {
      distance += ones((signatures[start + word] as number) ^ (own[word] as number));
    }
    if (distance < least) least = distance;
  }
  const cosine = Math.cos((Math.PI * least) / z.length);
  return clamp((cosine - slope * clamp(top, 0, 1) - from) / width, 0, 1);
}

/** Number of bits set in a 32-bit word. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
