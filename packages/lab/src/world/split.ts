import type { DatasetPlan } from "../datasets/catalogue.js";
import type { Dataset, LabelledText } from "../datasets/dataset.js";
import { seededRandom, shuffle } from "../random/seeded-random.js";

/** A lesson of the memory store: advice about one need. Its text says nothing of its worth. */
export interface LessonText {
  /** `m0`, `m1`, … */
  readonly id: string;
  /** Its text: an earlier request, or the description of its need. */
  readonly text: string;
  /** Place in the dataset's needs. */
  readonly need: number;
}

/** A dataset divided once; every seed of a world shares the division, so that one embedding serves them all. */
export interface Split {
  /** Texts that fit the embedder, never asked; none in a small set. */
  readonly background: readonly LabelledText[];
  /** Requests to learn from. */
  readonly stream: readonly LabelledText[];
  /** Requests to judge by, never learned from. */
  readonly heldOut: readonly LabelledText[];
  /** The memory store; taken out of the stream, never asked. */
  readonly lessons: readonly LessonText[];
  readonly needs: number;
}

/** Shares of the texts, [0, 1). What neither share takes is the stream. */
const SHARES = {
  large: { background: 0.25, heldOut: 0.2 },
  small: { background: 0, heldOut: 0.35 },
} as const;

/** Every published result rests on this division. */
const SPLIT_SEED = 7;

/** Divides a dataset at random into background, held-out and stream, then takes the filed cases out of the stream. */
export function splitDataset(dataset: Dataset, { memories, small }: Pick<DatasetPlan, "memories" | "small">): Split {
  const shares = small ? SHARES.small : SHARES.large;
  const texts = shuffle([...dataset.texts], seededRandom(SPLIT_SEED));
  const backgroundEnd = Math.floor(shares.background * texts.length);
  const heldOutEnd = backgroundEnd + Math.floor(shares.heldOut * texts.length);
  const filed = dataset.needs.map((need) => (memories.description ? [need.text] : []));
  const full = memories.cases + (memories.description ? 1 : 0);
  const stream: LabelledText[] = [];
  for (const text of texts.slice(heldOutEnd)) {
    // A case stands for one need; a request with several does not say which of them its advice was about.
    const lessons = filed[text.needs[0] as number] as string[];
    if (text.needs.length === 1 && lessons.length < full) lessons.push(text.text);
    else stream.push(text);
  }
  return {
    background: texts.slice(0, backgroundEnd),
    heldOut: texts.slice(backgroundEnd, heldOutEnd),
    stream,
    lessons: filed
      .flatMap((lessons, need) => lessons.map((text) => ({ text, need })))
      .map((lesson, number) => ({ id: `m${number}`, ...lesson })),
    needs: dataset.needs.length,
  };
}
