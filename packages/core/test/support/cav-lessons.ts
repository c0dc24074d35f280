import { cav } from "../../src/learners/cav/cav.js";
import type { CavMemory, CavShared } from "../../src/learners/cav/state.js";
import type { Contribution, Lesson } from "../../src/learners/learner.js";

export const DIMS = 8;
export const MEMORIES = 6;
export const learner: ReturnType<typeof cav> = cav();

/** The states of one collection and its few memories, without an engine around them. */
export interface World {
  readonly shared: CavShared;
  readonly memories: CavMemory[];
}

/** One finished run as a test describes it. */
export interface Run {
  readonly request: Float32Array;
  /** Memories shown by each exposure, best first. */
  readonly shown: readonly (readonly number[])[];
  readonly reward: number | null;
  readonly weight: number;
  readonly votes: readonly (-1 | 0 | 1)[];
}

export const emptyWorld = (): World => ({
  shared: learner.shared.empty(),
  memories: Array.from({ length: MEMORIES }, () => learner.memory.empty()),
});

export const copyOf = (world: World): World => structuredClone(world);

/** The run as the lesson that the ledger would make of it; relevance falls with the place. */
export function lessonOf(world: World, run: Run, first = true): Lesson<CavShared, CavMemory> {
  const counted = new Set<number>();
  return {
    exposures: run.shown.map((memories) => ({
      shared: world.shared,
      vector: run.request,
      context: "default",
      share: 1 / run.shown.length,
      shown: memories.map((memory, place) => {
        const again = counted.has(memory);
        counted.add(memory);
        return {
          id: `m${memory}`,
          memory: world.memories[memory] as CavMemory,
          similarity: 1 - place / 10,
          weight: again ? 0 : 1 / (1 + place),
          vote: run.votes[memory] as -1 | 0 | 1,
          used: undefined,
        };
      }),
    })),
    reward: run.reward,
    weight: run.weight,
    voted: run.votes.some((vote) => vote !== 0),
    at: 0,
    first,
  };
}

export const teach = (world: World, run: Run, first = true): Contribution => learner.learn(lessonOf(world, run, first));
export const takeBack = (world: World, run: Run, contribution: Contribution): void =>
  learner.unlearn(lessonOf(world, run), contribution);
