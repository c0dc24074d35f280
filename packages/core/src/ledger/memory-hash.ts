import { textHash } from "../embedding/text-hash.js";

/** Keeps addresses apart from texts. */
const SEED = 0xca95;

/** A memory's address in 32 bits, for lists where a rare mistake costs little. */
export function memoryHash(collection: string, id: string): number {
  return textHash(`${collection.length}:${collection}${id}`, SEED);
}
