import { hashedVector } from "./hashed-vector.js";
import { contentHash } from "./text-hash.js";

/** Texts kept: about 16 MiB of vectors. */
const MAX_KEPT = 4_096;

/** Hashed vectors of the most recently used texts of memories. Keyed by fingerprint; no text is kept. */
export class HashedTexts {
  /** Least recently used first. */
  readonly #vectors = new Map<string, Float32Array | undefined>();

  /** The hashed vector of a text, shared and read-only. Undefined for a text without words. */
  vector(text: string): Float32Array | undefined {
    const key = `${contentHash(text)}:${text.length}`;
    const known = this.#vectors.has(key);
    const vector = known ? this.#vectors.get(key) : hashedVector(text);
    if (known) this.#vectors.delete(key);
    else if (this.#vectors.size >= MAX_KEPT) this.#vectors.delete(this.#vectors.keys().next().value as string);
    this.#vectors.set(key, vector);
    return vector;
  }
}
