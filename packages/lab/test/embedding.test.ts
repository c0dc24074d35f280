import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Matrix, SingularValueDecomposition } from "ml-matrix";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cachedLsa, fitLsa, lsaEmbedder } from "../src/embedding/lsa.js";
import type { SparseMatrix } from "../src/embedding/sparse-matrix.js";
import { characterTerms, wordTerms } from "../src/embedding/terms.js";
import { rightSingularVectors } from "../src/embedding/truncated-svd.js";
import { fitVocabulary, tfIdfWeigher } from "../src/embedding/vocabulary.js";
import { WIDE_DIMS, widener } from "../src/embedding/widened.js";
import { normal, seededRandom } from "../src/random/seeded-random.js";

const TEXTS = [
  "my card has not arrived yet",
  "where is my new card",
  "the card never arrived in the post",
  "why was my transfer declined",
  "the transfer was declined again",
  "my transfer is still pending",
  "how do I change my pin",
  "I forgot my pin, can I change it",
];

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

describe("widened vectors", () => {
  it("keep their inner products in more dimensions, none of which is one of the old ones", () => {
    const random = seededRandom(4);
    const vectors = Array.from({ length: 6 }, () => Float32Array.from({ length: 40 }, () => normal(random)));
    const widen = widener(40);
    const wide = vectors.map(widen);
    for (const [i, a] of vectors.entries()) {
      for (const [j, b] of vectors.entries()) {
        expect(dot(wide[i] as Float32Array, wide[j] as Float32Array)).toBeCloseTo(dot(a, b), 4);
      }
    }
    const axis = widen(Float32Array.from({ length: 40 }, (_, i) => (i === 0 ? 1 : 0)));
    expect(axis).toHaveLength(WIDE_DIMS);
    expect(Math.max(...axis.map(Math.abs))).toBeLessThan(0.15);
  });
});

describe("terms of a text", () => {
  it("are lower-cased words and neighbouring pairs, without punctuation", () => {
    expect(wordTerms("My card, please!")).toEqual(["my", "card", "please", "my card", "card please"]);
  });

  it("are character runs inside padded words; a short word counts once", () => {
    expect(characterTerms("I pay")).toEqual([" I ".toLowerCase(), " pa", "pay", "ay ", " pay", "pay ", " pay "]);
  });
});

describe("the vocabulary", () => {
  it("drops rare terms, keeps the most frequent ones and weighs rare ones up", () => {
    const vocabulary = fitVocabulary(["a b b", "a b", "a c"], (text) => text.split(" "), 2);
    expect(vocabulary.terms).toEqual(["a", "b"]);
    expect([...vocabulary.idf]).toEqual([1, Math.log(4 / 3) + 1]);
  });

  it("makes unit vectors with damped counts", () => {
    const extract = (text: string): string[] => text.split(" ");
    const weigh = tfIdfWeigher({ terms: ["a", "b"], idf: Float64Array.of(1, 1) }, extract);
    const { features, values } = weigh("b a b x");
    expect([...features]).toEqual([0, 1]);
    const damped = 1 + Math.log(2);
    expect((values[1] as number) / (values[0] as number)).toBeCloseTo(damped, 12);
    expect(Math.hypot(...values)).toBeCloseTo(1, 12);
    expect(weigh("x y").features).toHaveLength(0);
  });
});

describe("rightSingularVectors", () => {
  it("spans the same space as an exact decomposition", () => {
    const random = seededRandom(4);
    const [rows, columns, components] = [40, 30, 5];
    // A matrix with a clear gap after five directions.
    const dense = Matrix.zeros(rows, columns);
    for (let rank = 0; rank < 8; rank++) {
      const left = Array.from({ length: rows }, () => normal(random));
      const right = Array.from({ length: columns }, () => normal(random));
      const strength = rank < components ? 10 : 0.1;
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < columns; j++)
          dense.set(i, j, dense.get(i, j) + strength * (left[i] as number) * (right[j] as number));
    }
    const found = rightSingularVectors(asSparse(dense), { components });
    const exact = new SingularValueDecomposition(dense).rightSingularVectors;
    for (let j = 0; j < components; j++) {
      // Up to sign, vector j is exact vector j.
      let cosine = 0;
      for (let i = 0; i < columns; i++) cosine += (found.data[i * found.columns + j] as number) * exact.get(i, j);
      expect(Math.abs(cosine)).toBeCloseTo(1, 6);
    }
  });
});

describe("an LSA embedding", () => {
  it("gives unit vectors, nearer for texts about the same thing", () => {
    const embed = lsaEmbedder(fitLsa(TEXTS, { dims: 4 }));
    const card = embed("has the new card arrived");
    expect(card).toHaveLength(4);
    expect(dot(card, card)).toBeCloseTo(1, 5);
    expect(dot(card, embed("my card"))).toBeGreaterThan(dot(card, embed("transfer declined")));
  });

  it("gives zeros for a text without a known term", () => {
    expect([...lsaEmbedder(fitLsa(TEXTS, { dims: 4 }))("漢字")]).toEqual([0, 0, 0, 0]);
  });

  it("is the same, byte for byte, when fitted again", () => {
    expect(fitLsa(TEXTS, { dims: 4 }).components).toEqual(fitLsa(TEXTS, { dims: 4 }).components);
  });

  it("fills up with zeros when the corpus has fewer directions than asked for", () => {
    const { components, dims } = fitLsa(TEXTS, { dims: 16 });
    expect(components.length % dims).toBe(0);
    expect(components.every(Number.isFinite)).toBe(true);
    expect(lsaEmbedder(fitLsa(TEXTS, { dims: 16 }))("my card")).toHaveLength(16);
  });
});

describe("the cache of fitted models", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lsa-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("gives the same model from disk without fitting again", async () => {
    const fitted = await cachedLsa(TEXTS, { dims: 4 }, folder);
    const steps: number[] = [];
    const kept = await cachedLsa(TEXTS, { dims: 4, onProgress: (share) => steps.push(share) }, folder);
    expect(steps).toEqual([]);
    expect(kept).toEqual(fitted);
  });

  it("keeps one file per corpus and parameters", async () => {
    await cachedLsa(TEXTS, { dims: 4 }, folder);
    await cachedLsa(TEXTS, { dims: 3 }, folder);
    await cachedLsa(TEXTS.slice(1), { dims: 3 }, folder);
    expect(await readdir(folder)).toHaveLength(3);
  });

  it("fits again when the file is damaged", async () => {
    const fitted = await cachedLsa(TEXTS, { dims: 4 }, folder);
    const [name] = await readdir(folder);
    const path = join(folder, name as string);
    const flipped = await readFile(path);
    flipped[flipped.length - 2] = (flipped.at(-2) as number) ^ 1;
    for (const damaged of [flipped, flipped.subarray(0, 100), Buffer.from("nonsense")]) {
      await writeFile(path, damaged);
      expect(await cachedLsa(TEXTS, { dims: 4 }, folder)).toEqual(fitted);
    }
  });
});

function asSparse(dense: Matrix): SparseMatrix {
  const { rows, columns } = dense;
  return {
    rows,
    columns,
    starts: Int32Array.from({ length: rows + 1 }, (_, row) => row * columns),
    indices: Int32Array.from({ length: rows * columns }, (_, place) => place % columns),
    values: Float64Array.from(dense.to1DArray()),
  };
}
