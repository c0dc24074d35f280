import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HASHED_DIMS, hashedVector } from "./hashed-vector.js";

const TWO_32 = 2n ** 32n;

function hash(text: string, seed: bigint): number {
  let state = 2_166_136_261n ^ seed;
  for (let i = 0; i < text.length; i++) state = ((state ^ BigInt(text.charCodeAt(i))) * 16_777_619n) % TWO_32;
  state ^= state >> 15n;
  state = (state * 0x2c1b3c6dn) % TWO_32;
  state ^= state >> 12n;
  return Number(state);
}

/**
 * A second implementation of the description, in another order: first all features of a list of words, then their counts, then
 * the vector, in float64. Words and word pairs count 1 each; the 3- to 5-grams of each word between two spaces count
 * one half; a feature's value is 1 + ln(max(1, count)); its bucket and its sign come from two hashes; the sum has length 1.
 */
function independentVector(words: readonly string[]): number[] {
  const features = [
    ...words.map((word) => `w:${word}`),
    ...words.slice(1).map((word, i) => `b:${words[i]} ${word}`),
    ...words.flatMap((word) =>
      [3, 4, 5].flatMap((size) => {
        const padded = ` ${word} `;
        return Array.from({ length: Math.max(0, padded.length - size + 1) }, (_, at) => `c:${padded.substr(at, size)}`);
      }),
    ),
  ];
  const sums = new Array<number>(HASHED_DIMS).fill(0);
  for (const feature of new Set(features)) {
    const half = feature.startsWith("c:") ? 0.5 : 1;
    const count = features.filter((other) => other === feature).length * half;
    const value = 1 + Math.log(count > 1 ? count : 1);
    const bucket = hash(feature, 7n) % 1024;
    sums[bucket] = (sums[bucket] as number) + (hash(feature, 1_234_567n) % 2 === 1 ? value : -value);
  }
  const length = Math.hypot(...sums);
  return sums.map((value) => value / length);
}

const word = fc.string({ unit: fc.constantFrom(..."abcdeéß5_хж中文"), minLength: 1, maxLength: 9 });

describe("hashedVector", () => {
  it("agrees with an independent implementation of its description", () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 25 }), (words) => {
        const vector = hashedVector(words.join(" ")) as Float32Array;
        const expected = independentVector(words);
        expect(vector).toHaveLength(HASHED_DIMS);
        for (let i = 0; i < HASHED_DIMS; i++) expect(vector[i]).toBeCloseTo(expected[i] as number, 5);
      }),
      { numRuns: 60 },
    );
  });

  it("is frozen: requests of today must meet the directions learned from those of yesterday", () => {
    const vector = hashedVector("Deploy fails: certificate expired, deploy again") as Float32Array;
    const first = [...vector].flatMap((value, i) => (value === 0 ? [] : [[i, Number(value.toFixed(6))]])).slice(0, 12);
    expect(first).toEqual([
      [6, 0.100571],
      [7, -0.100571],
      [8, -0.100571],
      [9, 0.100571],
      [23, -0.100571],
      [41, 0.100571],
      [56, 0.100571],
      [68, 0.100571],
      [76, -0.100571],
      [124, -0.100571],
      [139, -0.100571],
      [152, -0.100571],
    ]);
  });
});
