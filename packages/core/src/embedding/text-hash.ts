import { illegalOption } from "../errors/illegal-option.js";

const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

/**
 * 32-bit FNV-1a over UTF-16 units with a final mix, as an unsigned integer. It spreads features over buckets and notices edits; it
 * is not cryptographic.
 */
export function textHash(text: string, seed: number): number {
  let hash = (FNV_OFFSET ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, FNV_PRIME);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  return hash >>> 0;
}

/** Fingerprint of a memory's text, 32 bits, never 0 (0 means "no text was given"). @throws INVALID_ARGUMENT for anything but a string */
export function contentHash(text: string): number {
  assertText(text);
  return textHash(text, text.length) || 1;
}

/** Refuses anything but a string: all such values would have one fingerprint. @throws INVALID_ARGUMENT */
export function assertText(text: unknown): asserts text is string {
  if (typeof text === "string") return;
  throw illegalOption("text", "A text must be a string", text);
}
