import type { Quality, World } from "@qavr/bench";
import type { Arm, RankedLesson } from "./arms.js";
import type { HeldOutSet } from "./held-out.js";

/** One request before and after learning. */
export interface Example {
  readonly question: string;
  /** Subject of the request. */
  readonly need: number;
  readonly before: ExampleList;
  readonly after: ExampleList;
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

/** The held-out request whose true success rose most: picked to show what learning does, not to show the average. */
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
  let best: Example | undefined;
  for (const entry of heldOut) {
    const { text, needs } = entry.request;
    const [need] = needs as readonly [number];
    const before = list(need, entry.candidates.slice(0, world.k));
    const after = list(need, await arm.rank(entry));
    const gain = after.success - before.success;
    if (!best || gain > best.after.success - best.before.success) best = { question: text, need, before, after };
  }
  return best as Example;
}
