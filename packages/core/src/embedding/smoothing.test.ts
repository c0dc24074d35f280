import { describe, expect, it } from "vitest";
import { dot } from "../scoring/vectors.js";
import { hashedTexts } from "./hashed-texts.js";
import { hashedVector } from "./hashed-vector.js";
import { type Found, smoothed } from "./smoothing.js";

const hashed = (text: string): Float32Array => hashedVector(text) as Float32Array;
const cosine = (a: Float32Array, b: Float32Array): number => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

const found = (texts: readonly (string | undefined)[], similarities: readonly number[], topK = 2): Found => ({
  ids: texts.map((_, place) => `m${place}`),
  similarities: Float64Array.from(similarities),
  topK,
  neighbour: (place) => {
    const text = texts[place];
    return text === undefined ? undefined : hashedVector(text);
  },
});

const REFUND = "refunds are paid back to the card within five days";

describe("smoothed", () => {
  it("brings requests together that share no words and find the same memories", () => {
    const list = found([REFUND, "call the bank", "open a ticket"], [0.9, 0.3, 0.2]);
    const [a, b] = [hashed("money never returned"), hashed("where is my reimbursement")];
    expect(cosine(smoothed(a, list), smoothed(b, list))).toBeGreaterThan(cosine(a, b) + 0.3);
  });

  it("lets the nearest lend most, by how it stands above the rest", () => {
    const request = hashed("money");
    const clear = smoothed(request, found([REFUND, "call the bank", "open a ticket"], [0.9, 0.3, 0.2]));
    const close = smoothed(request, found([REFUND, "call the bank", "open a ticket"], [0.9, 0.85, 0.2]));
    expect(cosine(clear, hashed(REFUND))).toBeGreaterThan(cosine(close, hashed(REFUND)) + 0.05);
  });

  it("is the same for similarities that are stretched and shifted", () => {
    const texts = [REFUND, "call the bank", "open a ticket"];
    const request = hashed("money");
    const plain = smoothed(request, found(texts, [0.9, 0.4, 0.2]));
    const stretched = smoothed(request, found(texts, [-0.1, -0.6, -0.8]));
    plain.forEach((value, i) => {
      expect(stretched[i]).toBeCloseTo(value, 6);
    });
  });

  it("borrows the texts of eight memories that have one", () => {
    const request = hashed("money");
    const texts = [undefined, "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    const similarities = [0.9, ...new Array<number>(9).fill(0.8)];
    const all = smoothed(request, found(texts, similarities, 10));
    expect(smoothed(request, found([...texts.slice(0, 9), undefined], similarities, 10))).toEqual(all);
    expect(smoothed(request, found([...texts.slice(0, 8), undefined, "nine"], similarities, 10))).not.toEqual(all);
  });

  it("brings requests that find the same memories together also where these have no text, and others not", () => {
    const texts = new Array<undefined>(6).fill(undefined);
    const list = found(texts, [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]);
    const others: Found = { ...list, ids: ["a", "b", "c", "d", "e", "f"] };
    const [a, b] = [hashed("money never returned"), hashed("where is my reimbursement")];
    const alike = cosine(smoothed(a, list), smoothed(b, list));
    expect(alike).toBeGreaterThan(cosine(a, b) + 0.2);
    expect(cosine(smoothed(a, list), smoothed(b, others))).toBeLessThan(alike - 0.2);
  });

  it("keeps the request's own direction where nothing was found", () => {
    const request = hashed("money");
    expect(cosine(smoothed(request, found([], [])), request)).toBeCloseTo(1, 6);
  });

  it("notes fifty candidates, and forgets those that do not stand out", () => {
    const many = (count: number): Found =>
      found(new Array<undefined>(count).fill(undefined), new Array<number>(count).fill(0.5), count);
    expect(smoothed(hashed("money"), many(60))).toEqual(smoothed(hashed("money"), many(50)));
    const list = found([undefined, undefined, undefined], [0.9, 0.2, 0.2], 1);
    expect(smoothed(hashed("money"), { ...list, ids: ["m0", "x", "y"] })).toEqual(smoothed(hashed("money"), list));
  });

  it("does not change what it was given", () => {
    const request = hashed("money");
    const before = request.slice();
    smoothed(request, found([REFUND], [0.9]));
    expect(request).toEqual(before);
  });
});

describe("hashedTexts", () => {
  it("gives each text its hashed vector, once computed from memory", () => {
    const texts = hashedTexts();
    const first = texts(REFUND);
    expect(first).toEqual(hashedVector(REFUND));
    expect(texts(REFUND)).toBe(first);
    expect(texts("…")).toBeUndefined();
    expect(texts("…")).toBeUndefined();
  });

  it("lets go of the least recently used", () => {
    const texts = hashedTexts();
    const [used, unused] = [texts("used often"), texts("used once")];
    for (let i = 0; i < 4_095; i++) {
      texts(`filler ${i}`);
      texts("used often");
    }
    expect(texts("used often")).toBe(used);
    expect(texts("used once")).not.toBe(unused);
    expect(texts("used once")).toEqual(unused);
  });
});
