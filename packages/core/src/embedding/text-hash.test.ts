import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentHash, textHash } from "./text-hash.js";

const TWO_32 = 2n ** 32n;

/** The description in other arithmetic: FNV-1a over UTF-16 units from a seeded offset, then the final mix. */
function independentHash(text: string, seed: number): number {
  let hash = (2_166_136_261n ^ BigInt(seed)) % TWO_32;
  for (let i = 0; i < text.length; i++) hash = ((hash ^ BigInt(text.charCodeAt(i))) * 16_777_619n) % TWO_32;
  hash ^= hash >> 15n;
  hash = (hash * 0x2c1b3c6dn) % TWO_32;
  hash ^= hash >> 12n;
  return Number(hash);
}

describe("textHash", () => {
  it("is FNV-1a with a final mix, computed without rounding", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 30 }), fc.nat(), (text, seed) => {
        expect(textHash(text, seed)).toBe(independentHash(text, seed));
      }),
    );
  });

  it("spreads neighbouring texts evenly over 256 buckets", () => {
    const buckets = new Array<number>(256).fill(0);
    for (let i = 0; i < 25_600; i++) {
      const bucket = textHash(`feature ${i}`, 7) % 256;
      buckets[bucket] = (buckets[bucket] as number) + 1;
    }
    // Chi-squared with 255 degrees of freedom: 99.99 % lie below 347.
    const chiSquared = buckets.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0);
    expect(chiSquared).toBeLessThan(347);
  });
});

describe("contentHash", () => {
  it("is frozen: stored hashes must stay comparable", () => {
    expect(["", "a", "Restart the worker.", "Ärger 😀"].map(contentHash)).toEqual([
      447_841_614, 757_995_991, 563_060_087, 2_573_856_281,
    ]);
  });

  it("is never 0, which means that no text was given", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(contentHash(text)).toBeGreaterThan(0);
        expect(contentHash(text)).toBeLessThan(2 ** 32);
      }),
    );
  });

  it("notices every edit of one character", () => {
    const text = "Rotate the certificate before it expires.";
    const edited = [...text].map((_, i) => `${text.slice(0, i)}#${text.slice(i + 1)}`);
    expect(new Set([text, ...edited].map(contentHash)).size).toBe(text.length + 1);
  });
});
