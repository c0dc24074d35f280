import { hashedVector } from "./hashed-vector.js";
import { recentMap } from "./recent-map.js";
import { contentHash } from "./text-hash.js";

/** Texts kept: about 16 MiB of vectors. */
const MAX_KEPT = 4_096;

/**
 * Returns a function from a text to its hashed vector, shared and read-only; undefined for a text without words. It remembers the
 * vectors of the texts asked for last, by fingerprint; no text is kept.
 */
export function hashedTexts(): (text: string) => Float32Array | undefined {
  const vectors = recentMap<string, Float32Array | undefined>(MAX_KEPT);
  return (text) => {
    const key = `${contentHash(text)}:${text.length}`;
    const vector = vectors.has(key) ? vectors.get(key) : hashedVector(text);
    vectors.set(key, vector);
    return vector;
  };
}
