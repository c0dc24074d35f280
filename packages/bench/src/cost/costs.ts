import { QavrError } from "@qavr/core";
import { type Measurement, ratio } from "../speed/measure.js";
import type { Interval } from "../statistics/interval.js";
import { type OutcomeWrites, type StateKind, total, type Written } from "./outcome-writes.js";
import { REFERENCE, REFERENCE_DIMS } from "./subjects.js";

/** What one outcome costs a learner at one length of request vectors. */
export interface Cost {
  readonly learner: string;
  readonly revisits: number;
  readonly dims: number;
  /** Means per outcome. */
  readonly states: number;
  readonly bytes: number;
  readonly kinds: Readonly<Record<StateKind, Written>>;
  /** Mean bytes of one memory's state. */
  readonly memoryBytes: number;
  /** Median µs of an outcome, and its ratio to the reference's in the same rounds. */
  readonly inMemory: Timed;
  readonly onDisk: Timed;
  readonly onServer: Timed;
  /** Bytes that one outcome adds to the log of PostgreSQL: entry, states, indexes and all. */
  readonly logged: number;
}

export interface Timed {
  readonly median: number;
  readonly ratio: Interval;
}

/** What was observed of one learner at one length of request vectors. */
export interface Observed {
  readonly learner: string;
  readonly revisits: number;
  readonly dims: number;
  /** By store: the same runs write the same. */
  readonly counted: Readonly<Record<"inMemory" | "onDisk" | "onServer", OutcomeWrites>>;
  readonly inMemory: Measurement;
  readonly onDisk: Measurement;
  readonly onServer: Measurement;
  /** Bytes of PostgreSQL's log per outcome. */
  readonly logged: number;
}

/**
 * @param observations with the reference among them
 * @throws INVALID_STATE when the same runs wrote other states on disk or in PostgreSQL than in memory
 */
export function costs(observations: readonly Observed[]): readonly Cost[] {
  const reference = observations.find(
    ({ learner, dims }) => learner === REFERENCE && dims === REFERENCE_DIMS,
  ) as Observed;
  return observations.map(
    ({ learner, revisits, dims, counted: { inMemory: counted, ...others }, inMemory, onDisk, onServer, logged }) => {
      for (const [store, same] of Object.entries(others)) {
        if (JSON.stringify(counted) === JSON.stringify(same)) continue;
        throw new QavrError(
          "INVALID_STATE",
          `Outcomes of ${learner} with ${dims} dims wrote other states ${store} than in memory; one column cannot stand for both.`,
          { details: { learner, dims, store } },
        );
      }
      const perOutcome = ({ states, bytes }: Written): Written => ({
        states: rounded(states / counted.outcomes),
        bytes: rounded(bytes / counted.outcomes),
      });
      const { memory, episode, other } = counted.kinds;
      return {
        learner,
        revisits,
        dims,
        ...perOutcome(total(counted)),
        kinds: { memory: perOutcome(memory), episode: perOutcome(episode), other: perOutcome(other) },
        memoryBytes: rounded(memory.bytes / memory.states),
        inMemory: { median: inMemory.median, ratio: ratio(inMemory, reference.inMemory) },
        onDisk: { median: onDisk.median, ratio: ratio(onDisk, reference.onDisk) },
        onServer: { median: onServer.median, ratio: ratio(onServer, reference.onServer) },
        logged: rounded(logged),
      };
    },
  );
}

/** Hundredths: finer says nothing. */
function rounded(value: number): number {
  return Number(value.toFixed(2));
}
