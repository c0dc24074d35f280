import { CACHE_FOLDER, keptOnDisk } from "../cache/kept-on-disk.js";
import { pack, unpack } from "../cache/packed.js";
import { fitLsa, type LsaModel, type LsaOptions } from "./lsa.js";

/** Raised whenever the arithmetic of {@link fitLsa} changes, so that no old model is taken for a new one. */
export const FIT_VERSION = 1;

export interface LsaCacheOptions extends LsaOptions {
  /** Where fitted models are kept. @default `.cache` in this package */
  readonly folder?: string;
}

/** {@link fitLsa}, kept on disk under a hash of the texts and parameters. */
export function cachedLsa(texts: readonly string[], options: LsaCacheOptions = {}): Promise<LsaModel> {
  const { folder = CACHE_FOLDER, onProgress: _, ...parameters } = options;
  const { dims, minDocuments, maxFeatures, seed } = parameters;
  return keptOnDisk({
    folder,
    kind: "lsa",
    key: [FIT_VERSION, dims, minDocuments, maxFeatures, seed, texts],
    encode,
    decode,
    compute: () => fitLsa(texts, options),
  });
}

interface Header {
  readonly dims: number;
  readonly words: { readonly terms: string[]; readonly idf: number[] };
  readonly characters: { readonly terms: string[]; readonly idf: number[] };
  readonly length: number;
}

export function encode({ dims, words, characters, components }: LsaModel): Uint8Array {
  const plain = ({ terms, idf }: LsaModel["words"]): object => ({ terms, idf: [...idf] });
  return pack({ dims, words: plain(words), characters: plain(characters), length: components.length }, [components]);
}

export function decode(bytes: Uint8Array): LsaModel {
  const { header, floats } = unpack<Header>(bytes);
  const vocabulary = ({ terms, idf }: Header["words"]): LsaModel["words"] => ({ terms, idf: Float64Array.from(idf) });
  const { dims, words, characters, length } = header;
  return { dims, words: vocabulary(words), characters: vocabulary(characters), components: floats(length) };
}
