import type { Interval } from "@qavr/lab";
import { type Measurement, ratio } from "./measure.js";

/** One line of the result: a cost, what it is compared with, and what was demanded. */
export interface SpeedResult {
  readonly what: string;
  /** Unit of `value`: a ratio of two medians, or µs. */
  readonly unit: "ratio" | "µs";
  readonly value: Interval;
  /** At most this. Absent: for information. */
  readonly target?: number;
}

/** Names of the measured parts, by what is measured together: beside each engine the host again. */
export const PARTS = {
  scoring: {
    plain: "host: k = 10, beside the learner alone",
    score: "learner: score 50 candidates, 256 dims",
  },
  memory: {
    plain: "host: k = 10, beside the memory store",
    fetch: "host: k = 50",
    rank: "host k = 50 + rank, memory store",
    texts: "host k = 50 + rank with texts, memory store",
    unrecorded: "host k = 50 + rank without record, memory store",
    outcome: "outcome of a recorded episode over 5 memories, memory store",
    both: "exposure and outcome over 5 memories, memory store",
  },
  sqlite: {
    plain: "host: k = 10, beside the SQLite store",
    rank: "host k = 50 + rank, SQLite store",
    outcome: "outcome of a recorded episode over 5 memories, SQLite store, flushed to disk",
  },
} as const;

/** Targets of the measurements. */
export function speedResults(measurements: readonly Measurement[]): readonly SpeedResult[] {
  const part = (name: string): Measurement => measurements.find((one) => one.name === name) as Measurement;
  const against = (what: string, plain: string, name: string, target?: number): SpeedResult => ({
    what,
    unit: "ratio",
    value: ratio(part(name), part(plain)),
    ...(target === undefined ? {} : { target }),
  });
  const spent = (what: string, name: string, target?: number): SpeedResult => {
    const { median, calls } = part(name);
    return {
      what,
      unit: "µs",
      value: { mean: median, margin: 0, n: calls },
      ...(target === undefined ? {} : { target }),
    };
  };
  const { scoring, memory, sqlite } = PARTS;
  return [
    against("scoring 50 candidates, 256 dims ÷ one query", scoring.plain, scoring.score, 0.15),
    against("fetch 50 + rank (memory store) ÷ plain k = 10", memory.plain, memory.rank),
    against("fetch 50 + rank (SQLite store) ÷ plain k = 10", sqlite.plain, sqlite.rank),
    against("fetch 50 + rank with texts (memory store) ÷ plain k = 10", memory.plain, memory.texts),
    against("fetch 50 + rank without record (memory store) ÷ plain k = 10", memory.plain, memory.unrecorded),
    against("fetch 50 ÷ plain k = 10 (the host's own share)", memory.plain, memory.fetch),
    spent("outcome over 5 memories, CPU before the disk", memory.outcome, 100),
    spent("exposure and outcome over 5 memories, CPU before the disk", memory.both),
  ];
}
