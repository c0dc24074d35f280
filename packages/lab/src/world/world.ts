import type { LabelledText } from "../datasets/dataset.js";
import { seededRandom, shuffle, uniformAt } from "../random/seeded-random.js";
import { type Difficulty, drawDifficulty } from "./difficulty.js";
import { drawQualities, redrawHalf } from "./qualities.js";
import { DEFAULT_SCENARIO, type Scenario } from "./scenario.js";
import type { LessonText, Split } from "./split.js";
import { shuffledStream, zipfStream } from "./stream.js";
import { createTruth, type Truth } from "./truth.js";

/** One request of the stream or the held-out set. */
export interface Request extends LabelledText {
  /** Place in its list, 0-based. */
  readonly number: number;
}

/** A seeded world: real texts, drawn qualities, and the probability that a run succeeds given what it was shown. */
export interface World {
  readonly seed: number;
  readonly scenario: Required<Scenario>;
  /** Memories shown per run. */
  readonly k: number;
  readonly lessons: readonly LessonText[];
  /** Requests to learn from, in order. */
  readonly stream: readonly Request[];
  /** Requests of needs that the stream knows, never asked in it. */
  readonly heldOut: readonly Request[];
  /** At most 200 requests with a need that the stream never asked about. */
  readonly heldOutUnseen: readonly Request[];
  /** How many needs the dataset has. */
  readonly needs: number;
  /** The need of a lesson, a place in the dataset's needs. */
  needOf(lesson: string): number;
  /** How hard a need is. */
  difficulty(need: number): Difficulty;
  /** The truth when the run of this number takes place. */
  truthAt(run: number): Truth;
  /**
   * True if the run succeeds. The luck of a request is its own: equal for every ranker (common random numbers), so that
   * two rankers that show the same lessons see the same outcome.
   */
  succeeds(request: Request, shown: readonly string[]): boolean;
  /** Reports about a run that ended so: the truth, unless the scenario tosses coins, flips or inverts. */
  reported(request: Request, success: boolean): boolean;
}

/** Places of the independent draws of one request. Never reuse a number: another draw would follow the first. */
export const DRAW = {
  luck: 1,
  flip: 2,
  coin: 3,
  vote: 4,
  used: 5,
  claimed: 6,
  verified: 7,
  source: 8,
  error: 9,
} as const;

/** Most held-out requests about unseen needs. */
const UNSEEN_REQUESTS = 200;

/** Draws a world. Equal arguments give equal worlds; scenarios that differ only in what is reported share everything else. */
export function createWorld(split: Split, seed: number, scenario: Scenario = {}): World {
  const settings = { ...DEFAULT_SCENARIO, ...scenario };
  const random = seededRandom(seed * 7919 + 13);
  const difficulties = Array.from({ length: split.needs }, () => drawDifficulty(random()));
  const byNeed = Array.from({ length: split.needs }, (): string[] => []);
  const needOf = new Map<string, number>();
  for (const lesson of split.lessons) {
    (byNeed[lesson.need] as string[]).push(lesson.id);
    needOf.set(lesson.id, lesson.need);
  }
  const qualities = drawQualities(byNeed, settings, random);
  const unseen = Array.from({ length: split.needs }, () => random() < settings.unseen);
  const known = (text: LabelledText): boolean => text.needs.every((need) => !unseen[need]);
  const asked = split.stream.filter(known).slice(0, settings.distinct);
  // A sequence of its own, so that skewed traffic leaves the rest of the world as it is.
  const stream =
    settings.zipf > 0
      ? zipfStream(asked, settings.runs, settings.zipf, seededRandom(seed * 7919 + 14))
      : shuffledStream(asked, settings.runs, random);
  const heldOut = shuffle(split.heldOut.filter(known), random).slice(0, settings.heldOut);
  const heldOutUnseen = shuffle(
    split.heldOut.filter((text) => !known(text)),
    random,
  ).slice(0, UNSEEN_REQUESTS);

  const before = createTruth({ difficulties, byNeed, needOf, qualities });
  const drifts = Number.isFinite(settings.driftAt);
  const later = drifts ? redrawHalf(byNeed, qualities, settings, seededRandom(seed * 7919 + 15)) : qualities;
  const after = drifts ? createTruth({ difficulties, byNeed, needOf, qualities: later }) : before;
  const truthAt = (run: number): Truth => (run >= settings.driftAt ? after : before);
  const draw = (which: number, request: Request): number => uniformAt(seed, which, request.number);

  return {
    seed,
    scenario: settings,
    k: settings.k,
    lessons: split.lessons,
    stream: numbered(stream),
    heldOut: numbered(heldOut),
    heldOutUnseen: numbered(heldOutUnseen),
    needs: split.needs,
    needOf: (lesson) => needOf.get(lesson) ?? -1,
    difficulty: (need) => difficulties[need] as Difficulty,
    truthAt,
    succeeds: (request, shown) =>
      draw(DRAW.luck, request) < truthAt(request.number).trueProbability(request.needs, shown),
    reported(request, success) {
      let said = settings.coinToss ? draw(DRAW.coin, request) < 0.5 : success;
      if (draw(DRAW.flip, request) < settings.flip) said = !said;
      return request.number < settings.invertedUntil ? !said : said;
    },
  };
}

function numbered(texts: readonly LabelledText[]): Request[] {
  return texts.map((text, number) => ({ ...text, number }));
}
