import { toUnit } from "../scoring/vectors.js";
import { assertText, textHash } from "./text-hash.js";

/** Dimensions of a hashed vector. In fewer of them features collide: docs/decisions/2026-11-22-dims-of-a-request.md. */
export const HASHED_DIMS = 1024;

/** Longer texts are cut here: the kind of a request shows early, and the cost stays bounded. UTF-16 units. */
const MAX_TEXT = 8_192;
/** Count of one occurrence of a character n-gram; a word counts 1. */
const CHARACTER_COUNT = 0.5;
const SHORTEST_GRAM = 3;
const LONGEST_GRAM = 5;
const BUCKET_SEED = 7;
const SIGN_SEED = 1_234_567;

/**
 * Request vector of a text without any model: signed feature hashing of lower-cased words, word pairs and the character
 * 3- to 5-grams of each word, into {@link HASHED_DIMS} dimensions, unit length. No document frequencies: they need a corpus
 * and did worse. Undefined for a text without a letter, digit or underscore.
 *
 * @throws INVALID_ARGUMENT for anything but a string
 *
 *     x_f = 1 + ln(max(1, count_f))        an occurrence counts 0.5 for characters, 1 for words and pairs
 *     vector[hash(f) mod D] += sign(f) · x_f
 */
export function hashedVector(text: string): Float32Array | undefined {
  assertText(text);
  const words = text
    .slice(0, MAX_TEXT)
    .toLowerCase()
    .match(/[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu);
  if (!words) return undefined;
  const counts = new Map<string, number>();
  const count = (feature: string, amount: number): void => {
    counts.set(feature, (counts.get(feature) ?? 0) + amount);
  };
  words.forEach((word, index) => {
    count(`w:${word}`, 1);
    if (index > 0) count(`b:${words[index - 1]} ${word}`, 1);
    const padded = ` ${word} `;
    for (let length = SHORTEST_GRAM; length <= LONGEST_GRAM; length++) {
      for (let start = 0; start + length <= padded.length; start++) {
        count(`c:${padded.slice(start, start + length)}`, CHARACTER_COUNT);
      }
    }
  });
  const vector = new Float32Array(HASHED_DIMS);
  for (const [feature, amount] of counts) add(vector, feature, amount);
  // The two features of a single letter may cancel out, as those of "y" do; its word alone is used then.
  if (vector.every((value) => value === 0)) add(vector, `w:${words[0]}`, 1);
  return toUnit(vector);
}

function add(vector: Float32Array, feature: string, amount: number): void {
  const value = 1 + Math.log(Math.max(1, amount));
  const bucket = textHash(feature, BUCKET_SEED) % HASHED_DIMS;
  const sign = textHash(feature, SIGN_SEED) & 1 ? 1 : -1;
  vector[bucket] = (vector[bucket] as number) + sign * value;
}
