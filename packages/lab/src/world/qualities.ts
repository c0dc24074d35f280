import type { Random } from "../random/seeded-random.js";
import type { Scenario } from "./scenario.js";

/** Effect of a lesson on a run of its need. Hidden from every ranker. */
export type Quality = "helpful" | "neutral" | "misleading";

/** Lesson ids per need, in store order. */
export type LessonsByNeed = readonly (readonly string[])[];

/**
 * Half of the lessons help, a fifth does nothing and three tenths mislead (by default); every need has at least one helpful lesson.
 */
export function drawQualities(
  byNeed: LessonsByNeed,
  shares: Pick<Required<Scenario>, "poison" | "neutral">,
  random: Random,
): Map<string, Quality> {
  const qualities = new Map<string, Quality>();
  for (const lessons of byNeed) drawNeed(lessons, shares, random, qualities);
  return qualities;
}

/** Half of the needs, chosen at random, get newly drawn qualities; the others keep theirs. */
export function redrawHalf(
  byNeed: LessonsByNeed,
  qualities: ReadonlyMap<string, Quality>,
  shares: Pick<Required<Scenario>, "poison" | "neutral">,
  random: Random,
): Map<string, Quality> {
  const redrawn = drawQualities(byNeed, shares, random);
  const mixed = new Map(qualities);
  for (const lessons of byNeed) {
    if (random() >= 0.5) continue;
    for (const lesson of lessons) mixed.set(lesson, redrawn.get(lesson) as Quality);
  }
  return mixed;
}

function drawNeed(
  lessons: readonly string[],
  { poison, neutral }: Pick<Required<Scenario>, "poison" | "neutral">,
  random: Random,
  qualities: Map<string, Quality>,
): void {
  // A need with a single lesson keeps it helpful: nothing could be learned there otherwise.
  if (lessons.length === 1) {
    qualities.set(lessons[0] as string, "helpful");
    return;
  }
  if (lessons.length === 0) return;
  for (const lesson of lessons) {
    const drawn = random();
    qualities.set(lesson, drawn < poison ? "misleading" : drawn < poison + neutral ? "neutral" : "helpful");
  }
  if (lessons.some((lesson) => qualities.get(lesson) === "helpful")) return;
  qualities.set(lessons[Math.floor(random() * lessons.length)] as string, "helpful");
}
