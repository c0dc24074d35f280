import { CACHE_FOLDER, keptOnDisk } from "../cache/kept-on-disk.js";
import type { SparseMatrix } from "./sparse-matrix.js";
import { characterTerms, type TermExtractor, wordTerms } from "./terms.js";
import { rightSingularVectors } from "./truncated-svd.js";
import { fitVocabulary, type SparseVector, tfIdfWeigher, type Vocabulary } from "./vocabulary.js";

/** The fitted numbers of an LSA embedding; plain data, so that it can be kept on disk. */
export interface LsaModel {
  /** Length of the vectors. */
  readonly dims: number;
  readonly words: Vocabulary;
  readonly characters: Vocabulary;
  /** Row-major, one row of `dims` per feature: all words, then all character runs. */
  readonly components: Float32Array;
}

export interface LsaOptions {
  /** Length of the vectors. @default 256 */
  readonly dims?: number;
  /** Called now and then with the share done, 0..1. */
  readonly onProgress?: (share: number) => void;
}

/** Turns a text into a unit vector of the model's length (all zeros when no term of it is known). */
export type Embed = (text: string) => Float32Array;

/**
 * Latent semantic analysis: TF-IDF over words, pairs of words and character runs, projected on the directions along which
 * a corpus varies most. Deterministic and without a network: same texts and options, same bytes. A stand-in for a neural
 * embedder, weaker than one: it knows spelling and company, not meaning.
 *
 * @param texts the corpus to fit on; labels play no part.
 */
export function fitLsa(texts: readonly string[], { dims = 256, onProgress }: LsaOptions): LsaModel {
  const words = fitVocabulary(texts, wordTerms);
  const characters = fitVocabulary(texts, characterTerms);
  onProgress?.(0.1);
  const weigh = weigher(words, characters);
  const matrix = stack(texts.map(weigh), words.terms.length + characters.terms.length);
  const vectors = rightSingularVectors(matrix, {
    components: dims,
    onProgress: (share) => onProgress?.(0.1 + 0.9 * share),
  });
  const components = new Float32Array(matrix.columns * dims);
  for (let row = 0; row < matrix.columns; row++) {
    components.set(vectors.data.subarray(row * vectors.columns, (row + 1) * vectors.columns), row * dims);
  }
  return { dims, words, characters, components };
}

/** Raised whenever the arithmetic of {@link fitLsa} changes, so that old models stay unread. */
export const FIT_VERSION = 1;

/** {@link fitLsa}, kept on disk. @param folder of fitted models */
export function cachedLsa(
  texts: readonly string[],
  options: LsaOptions = {},
  folder: string = CACHE_FOLDER,
): Promise<LsaModel> {
  const key = [FIT_VERSION, options.dims, texts];
  return keptOnDisk({ folder, kind: "lsa", key, compute: () => fitLsa(texts, options) });
}

/** The embedding function of a fitted model. */
export function lsaEmbedder(model: LsaModel): Embed {
  const weigh = weigher(model.words, model.characters);
  const { dims, components } = model;
  return (text) => {
    const { features, values } = weigh(text);
    const sums = new Float64Array(dims);
    for (let place = 0; place < features.length; place++) {
      const row = features[place]! * dims;
      const value = values[place]!;
      for (let j = 0; j < dims; j++) sums[j]! += value * components[row + j]!;
    }
    return unit(sums);
  };
}

/** Both kinds of terms side by side, each scaled to unit length on its own. */
function weigher(words: Vocabulary, characters: Vocabulary): (text: string) => SparseVector {
  const kinds: readonly (readonly [Vocabulary, TermExtractor, offset: number])[] = [
    [words, wordTerms, 0],
    [characters, characterTerms, words.terms.length],
  ];
  const weighers = kinds.map(([vocabulary, extract, offset]) => ({ weigh: tfIdfWeigher(vocabulary, extract), offset }));
  return (text) => {
    const parts = weighers.map(({ weigh, offset }) => ({ ...weigh(text), offset }));
    return {
      features: Int32Array.from(parts.flatMap((part) => Array.from(part.features, (feature) => feature + part.offset))),
      values: Float64Array.from(parts.flatMap((part) => [...part.values])),
    };
  };
}

function stack(vectors: readonly SparseVector[], columns: number): SparseMatrix {
  const starts = new Int32Array(vectors.length + 1);
  vectors.forEach((vector, row) => {
    starts[row + 1] = starts[row]! + vector.features.length;
  });
  const total = starts[vectors.length]!;
  const indices = new Int32Array(total);
  const values = new Float64Array(total);
  vectors.forEach((vector, row) => {
    indices.set(vector.features, starts[row]!);
    values.set(vector.values, starts[row]!);
  });
  return { rows: vectors.length, columns, starts, indices, values };
}

function unit(sums: Float64Array): Float32Array {
  let squares = 0;
  for (const value of sums) squares += value * value;
  const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  return Float32Array.from(sums, (value) => value * scale);
}
