import { loadBanking77 } from "../datasets/banking77.js";
import type { Dataset } from "../datasets/dataset.js";
import { type Embed, lsaEmbedder } from "../embedding/lsa.js";
import { cachedLsa } from "../embedding/lsa-cache.js";
import { type Split, splitDataset } from "./split.js";

/** A dataset made ready for worlds: divided, and with an embedding fitted on texts that are never asked. */
export interface Corpus {
  readonly dataset: Dataset;
  readonly split: Split;
  /** Unit vectors of 256 floats. */
  readonly embed: Embed;
}

export interface CorpusOptions {
  /** Called with the share of the embedding's fit that is done, 0..1; not at all when it was cached. */
  readonly onProgress?: (share: number) => void;
  /** Where the fitted embedding is kept. @default `.cache` in this package */
  readonly folder?: string;
}

/** banking77 with LSA vectors of 256 floats. A few seconds the first time, a fraction of one from then on. */
export async function banking77Corpus(options: CorpusOptions = {}): Promise<Corpus> {
  const dataset = await loadBanking77();
  const split = splitDataset(dataset);
  const model = await cachedLsa(
    [...split.lessons, ...split.background].map((text) => text.text),
    options,
  );
  return { dataset, split, embed: lsaEmbedder(model) };
}
