import type { LabelledText } from "../datasets/dataset.js";
import { seededRandom, shuffle, uniformAt } from "../random/seeded-random.js";
import { type Difficulty, drawDifficulty, MISLEADING } from "./difficulty.js";
import { DEFAULT_SCENARIO, type Scenario } from "./scenario.js";
import type { LessonText, Split } from "./split.js";

/** What a lesson does to a run of its need. Hidden from every ranker. */
export type Quality = "helpful" | "neutral" | "misleading";

/** One request of the stream or the held-out set. */
export interface Request extends LabelledText {
  /** Place in its list, 0-based. */
  readonly number: number;
}

/** A seeded world: real texts, drawn qualities, and the probability that a run succeeds given what it was shown. */
export interface World {
  readonly seed: number;
  readonly k: number;
  readonly lessons: readonly LessonText[];
  /** Requests to learn from, in order. */
  readonly stream: readonly Request[];
  /** Requests of needs that the stream knows, never asked in it. */
  readonly heldOut: readonly Request[];
  /** At most 200 requests of needs that the stream never asked about. */
  readonly heldOutUnseen: readonly Request[];
  quality(lesson: string): Quality;
  /** The need of a lesson, a place in the dataset's needs. */
  needOf(lesson: string): number;
  /** How hard a need is. */
  difficulty(need: number): Difficulty;
  /** True probability that a run about `need` succeeds with these lessons shown, best first. */
  trueProbability(need: number, shown: readonly string[]): number;
  /**
   * Whether the run succeeds. The luck of a request is its own: equal for every ranker (common random numbers), so that
   * two rankers that show the same lessons see the same outcome.
   */
  succeeds(request: Request, shown: readonly string[]): boolean;
  /** What is reported about a run that ended so: the truth, or its opposite at the scenario's `flip` rate. */
  reported(request: Request, success: boolean): boolean;
  /** Lessons of a need that help, in store order. */
  helpful(need: number): readonly string[];
}

/** Places of the independent draws of one request. */
const DRAW = { luck: 1, flip: 2 } as const;

/**
 * Draws a world. Equal arguments give equal worlds.
 *
 * Half of the lessons help, a fifth does nothing and three tenths mislead (by default); every need has at least one helpful lesson.
 */
export function createWorld(split: Split, seed: number, scenario: Scenario = {}): World {
  const settings = { ...DEFAULT_SCENARIO, ...scenario };
  const random = seededRandom(seed * 7919 + 13);
  const difficulties = Array.from({ length: split.needs }, () => drawDifficulty(random()));
  const byNeed = Array.from({ length: split.needs }, (): string[] => []);
  const needs = new Map<string, number>();
  for (const lesson of split.lessons) {
    (byNeed[lesson.need] as string[]).push(lesson.id);
    needs.set(lesson.id, lesson.need);
  }
  const qualities = new Map<string, Quality>();
  for (const lessons of byNeed) drawQualities(lessons, settings, random, qualities);
  const unseen = Array.from({ length: split.needs }, () => random() < settings.unseen);
  const number = (texts: readonly LabelledText[]): Request[] =>
    texts.map((text, place) => ({ ...text, number: place }));
  const known = (text: LabelledText): boolean => !unseen[text.need];
  const asked = split.stream.filter(known);
  const stream: LabelledText[] = [];
  while (stream.length < settings.runs && asked.length > 0) stream.push(...shuffle([...asked], random));
  const heldOut = shuffle(split.heldOut.filter(known), random).slice(0, settings.heldOut);
  const heldOutUnseen = shuffle(
    split.heldOut.filter((text) => !known(text)),
    random,
  ).slice(0, 200);

  const quality = (lesson: string): Quality => qualities.get(lesson) ?? "neutral";
  const trueProbability = (need: number, shown: readonly string[]): number => {
    const { unaided, aided } = difficulties[need] as Difficulty;
    const own = shown.filter((lesson) => needs.get(lesson) === need);
    let probability = own.some((lesson) => quality(lesson) === "helpful") ? aided : unaided;
    const misleading = own.filter((lesson) => quality(lesson) === "misleading").length;
    if (misleading > 0) probability *= MISLEADING.first * MISLEADING.further ** (misleading - 1);
    const foreign = shown.filter((lesson) => needs.get(lesson) !== need && quality(lesson) === "misleading").length;
    return probability * MISLEADING.foreign ** foreign;
  };
  return {
    seed,
    k: settings.k,
    lessons: split.lessons,
    stream: number(stream.slice(0, settings.runs)),
    heldOut: number(heldOut),
    heldOutUnseen: number(heldOutUnseen),
    quality,
    needOf: (lesson) => needs.get(lesson) ?? -1,
    difficulty: (need) => difficulties[need] as Difficulty,
    trueProbability,
    succeeds: (request, shown) => uniformAt(seed, DRAW.luck, request.number) < trueProbability(request.need, shown),
    reported: (request, success) => (uniformAt(seed, DRAW.flip, request.number) < settings.flip ? !success : success),
    helpful: (need) => (byNeed[need] as string[]).filter((lesson) => quality(lesson) === "helpful"),
  };
}

function drawQualities(
  lessons: readonly string[],
  { poison, neutral }: Required<Scenario>,
  random: () => number,
  qualities: Map<string, Quality>,
): void {
  // A need with a single lesson keeps it helpful: nothing could be learned there otherwise.
  if (lessons.length === 1) {
    qualities.set(lessons[0] as string, "helpful");
    return;
  }
  for (const lesson of lessons) {
    const drawn = random();
    qualities.set(lesson, drawn < poison ? "misleading" : drawn < poison + neutral ? "neutral" : "helpful");
  }
  if (lessons.some((lesson) => qualities.get(lesson) === "helpful")) return;
  qualities.set(lessons[Math.floor(random() * lessons.length)] as string, "helpful");
}
