import type { Interval } from "../statistics/interval.js";
import { type Measurement, ratio } from "./measure.js";

/** One line of the result: a cost, what it is compared with, and what was demanded. */
export interface SpeedResult {
  readonly what: string;
  /** What `value` counts: a ratio of two medians, or µs. */
  readonly unit: "ratio" | "µs";
  readonly value: Interval;
  /** At most this. Absent: for information. */
  readonly target?: number;
}

/** Names of the measured parts. */
export const PARTS = {
  plain: "host: k = 10",
  fetch: "host: k = 50",
  scoring: "learner: score 50 candidates",
  memory: "host k = 50 + rank, memory store",
  memoryTexts: "host k = 50 + rank with texts, memory store",
  sqlite: "host k = 50 + rank, SQLite store",
  unrecorded: "host k = 50 + rank without record, memory store",
  outcome: "outcome of a recorded episode over 5 memories, memory store",
  both: "exposure and outcome over 5 memories, memory store",
} as const;

/** What is demanded of the measurements. */
export function speedResults(measurements: readonly Measurement[]): readonly SpeedResult[] {
  const part = (name: string): Measurement => measurements.find((one) => one.name === name) as Measurement;
  const against = (what: string, name: string, target?: number): SpeedResult => ({
    what,
    unit: "ratio",
    value: ratio(part(name), part(PARTS.plain)),
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
  return [
    against("scoring 50 candidates ÷ one query", PARTS.scoring, 0.15),
    against("fetch 50 + rank (memory store) ÷ plain k = 10", PARTS.memory, 1.25),
    against("fetch 50 + rank (SQLite store) ÷ plain k = 10", PARTS.sqlite, 1.25),
    against("fetch 50 + rank with texts (memory store) ÷ plain k = 10", PARTS.memoryTexts),
    against("fetch 50 + rank without record (memory store) ÷ plain k = 10", PARTS.unrecorded),
    against("fetch 50 ÷ plain k = 10 (the host's own share)", PARTS.fetch),
    spent("outcome over 5 memories, CPU before the disk", PARTS.outcome, 100),
    spent("exposure and outcome over 5 memories, CPU before the disk", PARTS.both),
  ];
}
