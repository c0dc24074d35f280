import { Document } from "@langchain/core/documents";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ScoreKind, toSimilarities } from "../src/ranking/similarities.js";

const store = (type: string, extra: object = {}): object => ({ _vectorstoreType: () => type, ...extra });
const similarities = (raw: (number | undefined)[], kind: ScoreKind = "auto", host?: object): number[] =>
  toSimilarities(
    raw,
    kind,
    raw.map((_, i) => new Document({ pageContent: String(i) })),
    host,
  );

describe("toSimilarities", () => {
  it("takes similarities as they are and turns distances around", () => {
    expect(similarities([0.9, 0.5], "similarity")).toEqual([0.9, 0.5]);
    expect(similarities([0.1, 0.5], "distance")).toEqual([0.9, 0.5]);
    expect(similarities([7, 7, 7, 7], "rank")).toEqual([1, 0.75, 0.5, 0.25]);
  });

  it("reads the direction off a best-first list, whatever the store is called", () => {
    expect(similarities([0.9, 0.5, 0.1], "auto", store("hnswlib"))).toEqual([0.9, 0.5, 0.1]);
    expect(similarities([0.1, 0.5, 0.9], "auto", store("memory"))).toEqual([0.9, 0.5, expect.closeTo(0.1)]);
  });

  it("asks the table of stores when all scores are equal", () => {
    expect(similarities([0.25], "auto", store("memory"))).toEqual([0.25]);
    expect(similarities([0.25], "auto", store("hnswlib"))).toEqual([0.75]);
    expect(similarities([0.25], "auto", store("pgvector"))).toEqual([0.75]);
    expect(similarities([0.25], "auto", store("pgvector", { scoreNormalization: "similarity" }))).toEqual([0.25]);
    expect(similarities([0.25, 0.25], "auto", store("something-new"))).toEqual([1, 0.5]);
    expect(similarities([0.25, 0.25])).toEqual([1, 0.5]);
    expect(similarities([0.25], "auto", store("constructor"))).toEqual([1]);
  });

  it("does not trust the order of a store that promises none", () => {
    expect(similarities([0.5, 0.1], "auto", store("libsql"))).toEqual([0.5, 0.9]);
  });

  it.each([[undefined], [Number.NaN], [Number.POSITIVE_INFINITY]])(
    "falls back to rank for the whole list when a score is %s",
    (odd) => {
      for (const kind of ["auto", "similarity", "distance", (score: number) => score] as ScoreKind[]) {
        expect(similarities([0.9, odd], kind)).toEqual([1, 0.5]);
      }
    },
  );

  it("lets a function decide, unless it gives something that is no number", () => {
    expect(similarities([2, 4], (score, place, { pageContent }) => score * 10 + place + Number(pageContent))).toEqual([
      20, 42,
    ]);
    expect(similarities([2, 4], () => Number.NaN)).toEqual([1, 0.5]);
  });

  it("keeps the host's order for every best-first list of either direction", () => {
    const scores = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(scores, fc.boolean(), (raw, ascending) => {
        const sorted = [...raw].sort((a, b) => (ascending ? a - b : b - a));
        const result = similarities(sorted);
        expect(result.every(Number.isFinite)).toBe(true);
        for (let i = 1; i < result.length; i++) expect(result[i]!).toBeLessThanOrEqual(result[i - 1]!);
      }),
    );
  });
});
