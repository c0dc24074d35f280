import { describe, expect, it } from "vitest";
import { grown, permuted } from "../src/lesson-order.js";

const lesson = (id: string, similarity: number, confidence: number) => ({
  id,
  similarity,
  confidence,
  reinforcements: 0,
});
const ids = (lessons: readonly { readonly id: string }[]): string => lessons.map(({ id }) => id).join("");

describe("orders of lessons", () => {
  it("L9: divide the match by the best one, and bear lists without any match", () => {
    // 0.7 + 0.21 = 0.91 against 0.56 + 0.225 = 0.785; undivided 0.245 against 0.253.
    expect(ids(permuted([lesson("a", 0.05, 0.7), lesson("b", 0.04, 0.75)], "hybrid", 0.7))).toBe("ab");
    expect(ids(permuted([lesson("a", 0, 0.7), lesson("b", 0, 0.75)], "hybrid", 0.7))).toBe("ba");
  });

  it("L8: end ties by id, and in hybrid by the order given", () => {
    expect(ids(permuted([lesson("b", 0.5, 0.7), lesson("a", 0.4, 0.7)], "confidence", 0.7))).toBe("ab");
    expect(ids(permuted([lesson("b", 0.5, 0.7), lesson("a", 0.5, 0.7)], "hybrid", 0.7))).toBe("ba");
  });

  it("L1, L2: let confidence grow as the published vectors do", () => {
    let confidence = 0.7;
    for (let reads = 1; reads <= 33; reads++) {
      confidence = Math.min(1, confidence + 0.1 * (1 - confidence));
      expect(grown(0.7, reads)).toBeCloseTo(confidence, 12);
    }
    expect([grown(0.7, 20), grown(1, 5)]).toEqual([expect.closeTo(0.963527, 6), 1]);
  });
});
