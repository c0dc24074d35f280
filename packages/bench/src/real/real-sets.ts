import { checkedRows } from "@qavr/lab";

export type RealSetName = "bfcl-models" | "prompts-mawps" | "prompts-gsm8k" | "gorilla-docs" | "feedbackqa" | "skills";

/** One thing that a request could be given, and what really came of it. */
export interface RealCandidate {
  readonly id: string;
  /** The text of the candidate, where the set has one. */
  readonly text?: string;
  /** The host's similarity to the request, 0..1, where the set has one. */
  readonly similarity?: number;
  /** 0..1: 1 the run with this candidate succeeded. */
  readonly outcome: number;
}

export interface RealRequest {
  readonly id: string;
  readonly text: string;
  /** The known category of the request. A learner sees it only as a context, where the host tells it. */
  readonly category?: string;
  readonly candidates: readonly RealCandidate[];
}

export interface RealSetPlan {
  /** sha256 of its files, as its README lists them. */
  readonly sha256: Readonly<Record<string, string>>;
  /** One line for reports: what it is, who judged, under which licence. */
  readonly about: string;
}

/** Outcomes that really happened. Sources, licences and checks are in `data/real/<name>/README.md`. */
export const REAL_SETS: Readonly<Record<RealSetName, RealSetPlan>> = {
  "bfcl-models": {
    sha256: {
      "candidates.jsonl": "ddb67a0f851b8da20f557f95ffce943dad0934175ae642980353051883b65dfa",
      "requests.jsonl": "a72f6875cf85350d13ac01fe8fa553636d90aff4b7bc36a52442cfd72269724b",
    },
    about: "1,700 function-calling tasks × 71 models; the leaderboard's checker (BFCL, Apache-2.0)",
  },
  "prompts-mawps": {
    sha256: {
      "candidates.jsonl": "a8710aaaa63b98763b53a0423d86e1087abc9589d6dadd304ee5a34fc51b17a8",
      "requests.jsonl": "d76f66a75ce9ee59d145808303566ec72948a8884513d230e7162c03ae7d769b",
    },
    about: "1,685 word problems × 16 prompts; last number of the answer (Prompt-OIRL, MIT)",
  },
  "prompts-gsm8k": {
    sha256: {
      "candidates.jsonl": "a8710aaaa63b98763b53a0423d86e1087abc9589d6dadd304ee5a34fc51b17a8",
      "requests.jsonl": "de7834a66318b94c434ab1933efc54402faa1fe386db9be955600521d837aa68",
    },
    about: "1,000 school problems × 16 prompts; last number of the answer (Prompt-OIRL, MIT)",
  },
  "gorilla-docs": {
    sha256: {
      "memories.jsonl": "1311f8186cec780c949b8e7ecab639f565df2efe63d6612e4871e3e54a4af575",
      "requests.jsonl": "7d826443ae635fe82e78a0e259d00d0166f88e73c4d6a337af73b063263a79b7",
    },
    about:
      "1,651 requests × 2 or 3 retrieved API documents of 885; the right API stands in the answer (Gorilla, Apache-2.0)",
  },
  feedbackqa: {
    sha256: {
      "memories.jsonl": "a91898b53df7d9d14abfa5db842f327236456bf52dbac84ecce554c0b4fccaf6",
      "requests.jsonl": "a63835bb2d61f23410ef4b90919ed151f8176f27688c4087fbd63683180ae532",
    },
    about:
      "1,308 questions × 3 retrieved passages of 1,820; people's ratings; similarity is right (FeedbackQA, Apache-2.0)",
  },
  skills: {
    sha256: {
      "candidates.jsonl": "d8e1cbca8a36e08abaeccb99de046a2983ce7324e5433e6ce104002d4e709674",
      "requests.jsonl": "22d761258f3c68ecad55375124b321f9f1dc43f460a858b967eb1faedfa198eb",
    },
    about:
      "1,385 tasks of eleven kinds × 136 skills (a library, how it is called); expected results of public test suites (licences in its README)",
  },
};

interface RequestRow {
  readonly id: string;
  readonly text: string;
  readonly group?: string;
  /** One character per candidate, in the order of `candidates.jsonl`. */
  readonly outcomes?: string;
  /** One number per candidate, in percent, where the set has similarities. */
  readonly similarities?: readonly number[];
  readonly candidates?: readonly { readonly id: string; readonly similarity: number; readonly outcome: number }[];
}

interface TextRow {
  readonly id: string;
  readonly text?: string;
}

/**
 * Loads a set.
 *
 * @throws INVALID_STATE when a file is not byte for byte the one that results are published for.
 */
export async function loadRealSet(name: RealSetName): Promise<readonly RealRequest[]> {
  const { sha256 } = REAL_SETS[name];
  const rows = <Row>(file: string): Promise<Row[]> =>
    checkedRows(new URL(`../../data/real/${name}/${file}`, import.meta.url), sha256[file] as string);
  const requests = await rows<RequestRow>("requests.jsonl");
  const texts = await rows<TextRow>("candidates.jsonl" in sha256 ? "candidates.jsonl" : "memories.jsonl");
  const textOf = new Map(texts.map(({ id, text }) => [id, text === undefined ? {} : { text }]));
  return requests.map(({ id, text, group, outcomes, similarities, candidates }) => ({
    id,
    text,
    ...(group === undefined ? {} : { category: group }),
    candidates: outcomes
      ? texts.map((one, column) => ({
          id: one.id,
          ...textOf.get(one.id),
          ...(similarities ? { similarity: (similarities[column] as number) / 100 } : {}),
          outcome: Number(outcomes[column]),
        }))
      : (candidates ?? []).map((one) => ({ ...one, ...textOf.get(one.id) })),
  }));
}
