import { loadCorpus } from "@qavr/lab";
import { describe, expect, it } from "vitest";
import { bm25 } from "../src/retrieval/bm25.js";
import { DEPTH, retrieve } from "../src/retrieval/retrieval.js";

describe("BM25", () => {
  it("is the published formula", () => {
    const score = bm25(["the card", "the lost card card", "a pin"]);
    const idf = Math.log(1 + (3 - 2 + 0.5) / (2 + 0.5));
    const of = (count: number, length: number): number =>
      (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / (8 / 3)));
    const [first, second, third] = score("Card?") as unknown as [number, number, number];
    expect(first).toBeCloseTo(of(1, 2), 12);
    expect(second).toBeCloseTo(of(2, 4), 12);
    expect(third).toBe(0);
  });

  it("counts a repeated word of the query once", () => {
    const score = bm25(["the card", "a pin"]);
    expect([...score("pin pin pin")]).toEqual([...score("pin")]);
  });
});

describe("what a host finds", () => {
  it("is the same from the cache and computed anew: 50 candidates, best first", async () => {
    const corpus = await loadCorpus("nlupp-hotels");
    const [kept, anew] = [await retrieve(corpus), await retrieve(corpus, "/dev/null/no-folder")];
    expect(anew.topical).toEqual(kept.topical);
    for (const { text } of [...corpus.split.stream, ...corpus.split.heldOut]) {
      const found = kept.find(text);
      expect(found).toEqual(anew.find(text));
      expect(found.candidates).toHaveLength(DEPTH);
      const scores = found.candidates.map(({ similarity }) => similarity);
      expect([...scores].sort((a, b) => b - a)).toEqual(scores);
      expect(found.vector).toEqual(corpus.embed(text));
    }
  });

  it("comes from the similarity that finds the right need first most often", async () => {
    const { similarity, topical } = await retrieve(await loadCorpus("nlupp-hotels"));
    expect(topical[similarity]).toBe(Math.max(...Object.values(topical)));
    expect(topical[similarity]).toBeGreaterThan(0.4);
  });
});
