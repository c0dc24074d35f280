export type DatasetName = "banking77" | "hwu64" | "clinc150" | "nlupp-hotels" | "sealtools";

/** The memories of each need. */
export interface MemoryPlan {
  /** True if the need's own description is one. */
  readonly description: boolean;
  /** How many are lessons filed under an earlier request with this need alone. */
  readonly cases: number;
}

/** How one dataset is loaded, divided and used. */
export interface DatasetPlan {
  /** sha256 of its two files, as its README lists them. */
  readonly sha256: { readonly "needs.jsonl": string; readonly "queries.jsonl": string };
  readonly memories: MemoryPlan;
  /**
   * Too few texts to leave a quarter to the embedder: 65 % are the stream, 35 % are held out, and the embedder is fitted on the
   * memories and the unlabelled stream.
   */
  readonly small: boolean;
  /** True if the stream asks each request once and ends, so that needs stay rare. Otherwise requests repeat until there are enough runs. */
  readonly once: boolean;
  /** Share of needs that the stream never asks about. 0 where nearly every request is a need of its own. */
  readonly unseen: number;
  /** True if parameters of this project's learners were chosen on it (with seeds above 100). */
  readonly tunedOn: boolean;
  /** One line for reports: what it is, whose, under which licence. */
  readonly about: string;
}

const UNSEEN = 0.15;
const FOUR_CASES: MemoryPlan = { description: false, cases: 4 };

/** The datasets, in the order of reports. Texts, sources and licences are in `data/<name>/README.md`. */
export const DATASETS: Readonly<Record<DatasetName, DatasetPlan>> = {
  banking77: {
    sha256: {
      "needs.jsonl": "65d21fecef911005e73958ac226b2a91f1711cb74cc1d26c19afd9ad452b54a0",
      "queries.jsonl": "183f43393a37f9434e9e14651a61468ffb38099b876a04f5b1e6e4ad48726f1a",
    },
    memories: FOUR_CASES,
    small: false,
    once: false,
    unseen: UNSEEN,
    tunedOn: false,
    about: "13,023 questions of bank customers, 77 close needs (PolyAI, CC BY 4.0)",
  },
  hwu64: {
    sha256: {
      "needs.jsonl": "f1d3d5c7c6eb0e3d580db3097a3301d11a1ebf8e312c40ab5eb09d353cb13bf0",
      "queries.jsonl": "b48804a8fbe10fc6337588232130ecbe22733d4ce10901a442b71569a6839dac",
    },
    memories: FOUR_CASES,
    small: false,
    once: false,
    unseen: UNSEEN,
    tunedOn: true,
    about: "11,030 utterances to a home assistant, 64 needs, skewed as in real traffic (Liu et al., CC BY 4.0)",
  },
  clinc150: {
    sha256: {
      "needs.jsonl": "34c4e331baab6a717f306cf29c4897d0276296089b4d644a341cd30713a2dab3",
      "queries.jsonl": "c16fae26b8c21d4783aab9feff250386ad1bdeeac3bda4037ef84976558e950c",
    },
    memories: FOUR_CASES,
    small: false,
    once: false,
    unseen: UNSEEN,
    tunedOn: true,
    about: "22,428 utterances to an assistant, 150 needs, so few runs per need (Larson et al., CC BY 3.0)",
  },
  "nlupp-hotels": {
    sha256: {
      "needs.jsonl": "43c26e1e6403f33426802b25cf14924f49289777b7c13ab8059c7c6627a191bc",
      "queries.jsonl": "cefe38667f54ae304de7bffc537bbc6560383c447fc9a3c2911e8b6d94a47456",
    },
    memories: { description: true, cases: 2 },
    small: true,
    once: false,
    unseen: UNSEEN,
    tunedOn: false,
    about: "725 utterances of hotel guests, 40 needs, two per request on average (PolyAI, CC BY 4.0)",
  },
  sealtools: {
    sha256: {
      "needs.jsonl": "9271494a7a0b1eac318fba0ca8b71eb61c6a601ad88a1c13f746f6e0804c77ee",
      "queries.jsonl": "9a7bf6e687f6cead1daa1bb1010b0e9533b9b9f5be29e41fa5fa2cd005d2a6ce",
    },
    memories: { description: true, cases: 0 },
    small: true,
    once: true,
    unseen: 0,
    tunedOn: true,
    about:
      "2,054 requests for 4,076 tools, one memory each and all of them right: nothing to learn (Seal-Tools, Apache-2.0)",
  },
};

export const DATASET_NAMES: readonly DatasetName[] = Object.keys(DATASETS) as DatasetName[];
