import type { Contribution, Learner, Lesson, RequestModel } from "../../src/learners/index.js";

/** State of a memory that all learners over request vectors share. */
export interface DirectedMemory {
  evidence: number;
  vector: Float32Array;
}

export const DIMS = 8;
export const MEMORIES = 6;

/** The states of one collection and its few memories, without an engine around them. */
export interface World {
  readonly shared: RequestModel;
  readonly memories: DirectedMemory[];
}

/** One finished run of a test. */
export interface Run {
  readonly request: Float32Array;
  /** Memories shown by each exposure, best first. */
  readonly shown: readonly (readonly number[])[];
  readonly reward: number | null;
  readonly weight: number;
  readonly votes: readonly (-1 | 0 | 1)[];
}

/** A learner over request vectors, whatever its table. */
export type VectorLearner = Learner<RequestModel, DirectedMemory>;

export const copyOf = (world: World): World => structuredClone(world);

/** Teaches a learner run by run, without an engine around it. */
export interface Lessons {
  emptyWorld(): World;
  teach(world: World, run: Run, first?: boolean): Contribution;
  /** Fits a run again; returns the contribution unchanged for a learner that fits each run once. */
  revisit(world: World, run: Run, contribution: Contribution): Contribution;
  takeBack(world: World, run: Run, contribution: Contribution): void;
}

export function lessonsFor(learner: VectorLearner): Lessons {
  return {
    emptyWorld: () => ({
      shared: learner.shared.empty(),
      memories: Array.from({ length: MEMORIES }, () => learner.memory.empty()),
    }),
    teach: (world, run, first = true) => learner.learn(lessonOf(world, run, first)),
    revisit: (world, run, contribution) => learner.revisits?.fit(lessonOf(world, run), contribution) ?? contribution,
    takeBack: (world, run, contribution) => learner.unlearn(lessonOf(world, run), contribution),
  };
}

/** The lesson that the ledger makes of a run; relevance falls with the place. */
function lessonOf(world: World, run: Run, first = true): Lesson<RequestModel, DirectedMemory> {
  const counted = new Set<number>();
  return {
    exposures: run.shown.map((memories) => ({
      shared: world.shared,
      vector: run.request,
      context: "default",
      share: 1 / run.shown.length,
      voted: run.votes.some((vote) => vote !== 0),
      shown: memories.map((memory, place) => {
        const again = counted.has(memory);
        counted.add(memory);
        return {
          id: `m${memory}`,
          memory: world.memories[memory] as DirectedMemory,
          similarity: 1 - place / 10,
          weight: again ? 0 : 1 / (1 + place),
          vote: run.votes[memory] as -1 | 0 | 1,
          used: undefined,
        };
      }),
    })),
    reward: run.reward,
    weight: run.weight,
    at: 0,
    first,
  };
}
