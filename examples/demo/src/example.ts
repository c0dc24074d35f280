import type { Quality, World } from "@qavr/lab";
import type { Arm, RankedLesson } from "./arms.js";
import type { HeldOutSet } from "./held-out.js";

/** One request before and after learning. */
export interface Example {
  readonly question: string;
  /** Subject of the request. */
  readonly need: number;
  readonly before: ExampleList;
  readonly after: ExampleList;
  /** Held-out requests, and those whose true success rose and fell by more than 5 points. */
  readonly requests: number;
  readonly gained: number;
  readonly lost: number;
}

export interface ExampleList {
  /** True probability that the run succeeds with these lessons. */
  readonly success: number;
  readonly lessons: readonly (RankedLesson & {
    readonly text: string;
    /** The hidden truth, which no ranker sees; `other` for a lesson about something else. */
    readonly truth: Quality | "other";
    /** Place without learning, 1-based. */
    readonly baseRank: number;
  })[];
}

/** Change of the true success that counts as one. */
const CHANGED = 0.05;

/**
 * A typical one of the held-out requests that gained: of the middle half by gain, the one for which the most helpful lessons came in and
 * the most misleading ones went.
 */
export async function findExample(world: World, heldOut: HeldOutSet, arm: Arm): Promise<Example> {
  const truth = world.truthAt(0);
  const texts = new Map(world.lessons.map(({ id, text }) => [id, text]));
  const list = (need: number, lessons: readonly RankedLesson[]): ExampleList => ({
    success: truth.trueProbability(
      [need],
      lessons.map((lesson) => lesson.id),
    ),
    lessons: lessons.map((lesson, place) => ({
      ...lesson,
      text: texts.get(lesson.id) ?? "",
      truth: world.needOf(lesson.id) === need ? truth.quality(lesson.id) : "other",
      baseRank: (lesson.index ?? place) + 1,
    })),
  });
  const examples: Omit<Example, "requests" | "gained" | "lost">[] = [];
  for (const entry of heldOut) {
    const { text, needs } = entry.request;
    const [need] = needs as readonly [number];
    const before = list(need, entry.candidates.slice(0, world.k));
    examples.push({ question: text, need, before, after: list(need, await arm.rank(entry)) });
  }
  const gain = ({ before, after }: (typeof examples)[number]): number => after.success - before.success;
  const gained = examples.filter((example) => gain(example) > CHANGED).sort((a, b) => gain(a) - gain(b));
  const lost = examples.filter((example) => gain(example) < -CHANGED).length;
  const middle = gained.slice(Math.floor(gained.length / 4), Math.ceil((gained.length * 3) / 4));
  const [typical] = (middle.length > 0 ? middle : examples).toSorted((a, b) => clarity(b) - clarity(a));
  const counts = { requests: examples.length, gained: gained.length, lost };
  return { ...(typical as (typeof examples)[number]), ...counts };
}

/** How plainly the lists differ: helpful lessons gained and misleading ones lost. */
function clarity({ before, after }: Pick<Example, "before" | "after">): number {
  const of = ({ lessons }: ExampleList, truth: Quality): number =>
    lessons.filter((lesson) => lesson.truth === truth).length;
  return of(after, "helpful") - of(before, "helpful") + of(before, "misleading") - of(after, "misleading");
}
