import { DATASETS, type DatasetName } from "../datasets/catalogue.js";
import type { Dataset } from "../datasets/dataset.js";
import { loadDataset } from "../datasets/load-dataset.js";
import { cachedLsa, type Embed, lsaEmbedder } from "../embedding/lsa.js";
import { type Split, splitDataset } from "./split.js";

/** A dataset made ready for worlds: divided, and with an embedding fitted without labels and without held-out texts. */
export interface Corpus {
  readonly dataset: Dataset;
  readonly split: Split;
  /** Unit vectors of 256 floats. */
  readonly embed: Embed;
}

export interface CorpusOptions {
  /** Called with the share of the embedding's fit that is done, 0..1; not at all when it was cached. */
  readonly onProgress?: (share: number) => void;
}

/** A dataset with LSA vectors of 256 floats. A few seconds the first time, a fraction of one from then on. */
export async function loadCorpus(name: DatasetName, options: CorpusOptions = {}): Promise<Corpus> {
  const plan = DATASETS[name];
  const dataset = await loadDataset(name);
  const split = splitDataset(dataset, plan);
  const asked = plan.small ? split.stream : split.background;
  const model = await cachedLsa(
    [...split.lessons, ...asked].map((text) => text.text),
    options,
  );
  return { dataset, split, embed: lsaEmbedder(model) };
}
