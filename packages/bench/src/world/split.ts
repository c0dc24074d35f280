import type { Dataset, LabelledText } from "../datasets/dataset.js";
import { seededRandom, shuffle } from "../random/seeded-random.js";

/** A lesson of the memory store: advice filed under an earlier question with the same need. Its text says nothing of its worth. */
export interface LessonText extends LabelledText {
  /** `m0`, `m1`, … */
  readonly id: string;
}

/** A dataset divided once; every seed of a world shares the division, so that one embedding serves them all. */
export interface Split {
  /** Texts that fit the embedder, never asked. */
  readonly background: readonly LabelledText[];
  /** Requests to learn from. */
  readonly stream: readonly LabelledText[];
  /** Requests to judge by, never learned from. */
  readonly heldOut: readonly LabelledText[];
  /** The memory store; taken out of the stream, never asked. */
  readonly lessons: readonly LessonText[];
  readonly needs: number;
}

export interface SplitOptions {
  /** @default 7 */
  readonly seed?: number;
  /** Share of the texts, [0, 1). @default 0.25 */
  readonly background?: number;
  /** Share of the texts, [0, 1). @default 0.2 */
  readonly heldOut?: number;
  /** @default 4 */
  readonly lessonsPerNeed?: number;
}

/** Divides a dataset at random into background, held-out and stream, then takes the lessons out of the stream. */
export function splitDataset(
  dataset: Dataset,
  { seed = 7, background = 0.25, heldOut = 0.2, lessonsPerNeed = 4 }: SplitOptions = {},
): Split {
  const texts = shuffle([...dataset.texts], seededRandom(seed));
  const backgroundEnd = Math.floor(background * texts.length);
  const heldOutEnd = backgroundEnd + Math.floor(heldOut * texts.length);
  const taken = dataset.needs.map((): LabelledText[] => []);
  const stream: LabelledText[] = [];
  for (const text of texts.slice(heldOutEnd)) {
    const lessons = taken[text.need] as LabelledText[];
    if (lessons.length < lessonsPerNeed) lessons.push(text);
    else stream.push(text);
  }
  return {
    background: texts.slice(0, backgroundEnd),
    heldOut: texts.slice(backgroundEnd, heldOutEnd),
    stream,
    lessons: taken.flat().map((lesson, number) => ({ ...lesson, id: `m${number}` })),
    needs: dataset.needs.length,
  };
}
