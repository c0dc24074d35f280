import type { Candidate } from "@qavr/core";
import type { Request, World } from "@qavr/lab";

/** A request with what the host finds for it. */
export interface Asked {
  readonly request: Request;
  /** Unit request vector, 256 floats. */
  readonly vector: Float32Array;
  /** Best similarity first, with their texts. */
  readonly candidates: readonly Candidate[];
}

/** One way to choose memories, and whatever it learns. Calls come one after the other: `show`, then `learn` about the same run. */
export interface Arm {
  /** The memories of a run, ids, best first; at most the world's k. */
  show(asked: Asked): Promise<readonly string[]>;
  /** The run has ended; the arm asks the world for what it may know about it. */
  learn(asked: Asked, shown: readonly string[]): Promise<void>;
  /** The result of `show` now, without leaving a trace. */
  preview(asked: Asked): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Makes a fresh arm for one world. */
export type CreateArm = (world: World) => Arm | Promise<Arm>;

/** Simulated time between two runs, ms: about a hundred runs a day, so that what fades by the hour or the day has time to. */
export const RUN_INTERVAL: number = 15 * 60 * 1000;
/** When the first run takes place, Unix ms. Any fixed moment will do. */
export const FIRST_RUN: number = Date.UTC(2026, 0, 1);

/** Names the episodes of an engine. Ids decide which runs are controls: the same ones each time, other ones with each seed. */
export function countedIds(seed: number): () => string {
  let drawn = 0;
  return () => `${seed}-${drawn++}`;
}
