import type { Lesson, LessonExposure } from "./learner.js";
import {
  expectedSuccess,
  fadeBaseline,
  moveBaseline,
  moveBaselineBack,
  type RequestBaseline,
} from "./request-baseline.js";

/** How surprising a run was, and what the baseline learned from it. */
export interface Surprise {
  /** `r − b`: reward minus the success that was to be expected of such requests. In (−1, 1). */
  readonly surprise: number;
  /** Per exposure: the steps of the baseline, for `moveBaselineBack`. */
  readonly steps: readonly (readonly [bias: number, step: number])[];
}

/** What happens once per run, before anything is predicted: the run is counted and the baseline's vector fades. */
export function countRun({ exposures, first }: Lesson<RequestBaseline, unknown>): void {
  if (!first) return;
  for (const shared of new Set(exposures.map((exposure) => exposure.shared))) shared.lessons += 1;
  for (const { shared, vector, share } of exposures) {
    if (!vector) continue;
    if (shared.baseline.length === 0) shared.baseline = new Float32Array(vector.length);
    fadeBaseline(shared, share);
  }
}

/**
 * Counts the run, asks the baseline what was to be expected of its requests, and lets it learn the difference. Undefined where
 * nobody knows how the run ended.
 */
export function learnSurprise(lesson: Lesson<RequestBaseline, unknown>): Surprise | undefined {
  const { exposures, reward, weight } = lesson;
  countRun(lesson);
  if (reward === null) return undefined;
  const expected = exposures.reduce(
    (sum, { shared, vector, share }) => sum + share * expectedSuccess(shared, vector),
    0,
  );
  const surprise = reward - expected;
  return { surprise, steps: moveBaselines(lesson, surprise * weight) };
}

/** Moves the baseline of each exposure's collection by its share of what was not expected. */
export function moveBaselines(
  { exposures }: Lesson<RequestBaseline, unknown>,
  drift: number,
): (readonly [bias: number, step: number])[] {
  return exposures.map(({ shared, vector, share }) => moveBaseline(shared, vector, drift, share));
}

/** Takes back what an exposure's baseline learned. */
export function withdrawSteps(
  { shared, vector }: LessonExposure<RequestBaseline, unknown>,
  [bias = 0, step = 0]: readonly number[],
): void {
  moveBaselineBack(shared, vector, bias, step);
}
