import type { Contribution, Lesson, LessonExposure, ShownMemory } from "./learner.js";

/**
 * Applies a lesson part by part and records the additions: `collection` for each exposure, then `memory` for each of its
 * memories with credit (the weaker showing of one memory has none). A function that is left out adds nothing.
 */
export function contribute<Shared, Memory>(
  { exposures }: Lesson<Shared, Memory>,
  parts: {
    readonly collection?: (exposure: LessonExposure<Shared, Memory>, place: number) => readonly number[];
    readonly memory?: (
      shown: ShownMemory<Memory>,
      exposure: LessonExposure<Shared, Memory>,
      place: number,
    ) => readonly number[];
  },
): Contribution {
  return {
    exposures: exposures.map((exposure, place) => ({
      direction: undefined,
      scalars: parts.collection?.(exposure, place) ?? [],
      memories: exposure.shown.map((shown) => (shown.weight > 0 ? (parts.memory?.(shown, exposure, place) ?? []) : [])),
    })),
  };
}

/** Calls `parts` with the recorded additions of a lesson, in their order; empty ones are left out. */
export function withdraw<Shared, Memory>(
  { exposures }: Lesson<Shared, Memory>,
  contribution: Contribution,
  parts: {
    readonly collection?: (exposure: LessonExposure<Shared, Memory>, added: readonly number[]) => void;
    readonly memory?: (
      shown: ShownMemory<Memory>,
      added: readonly number[],
      exposure: LessonExposure<Shared, Memory>,
      scalars: readonly number[],
    ) => void;
  },
): void {
  exposures.forEach((exposure, place) => {
    const { scalars, memories } = contribution.exposures[place] ?? { scalars: [], memories: [] };
    if (scalars.length > 0) parts.collection?.(exposure, scalars);
    exposure.shown.forEach((shown, i) => {
      const added = memories[i] ?? [];
      if (added.length > 0) parts.memory?.(shown, added, exposure, scalars);
    });
  });
}
