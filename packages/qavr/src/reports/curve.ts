import { type Share, wilson } from "./interval.js";
import type { JudgedRun } from "./judged-runs.js";

/** Success of some successive runs. */
export interface CurvePoint {
  /** Number of judged runs. */
  readonly runs: number;
  /** First and last outcome, Unix ms. */
  readonly from: number;
  readonly to: number;
  /** Mean reward in [0, 1]. */
  readonly success: number;
  /** 95 % interval; absent below {@link INTERVAL_RUNS} runs. */
  readonly interval?: Pick<Share, "low" | "high">;
  /** Mean reward of those that were served in the host's order; absent without any, and where `success` is theirs since there are no others. */
  readonly heldOut?: { readonly runs: number; readonly success: number };
}

const MOST_POINTS = 16;
const LEAST_RUNS = 10;
/** Fewer runs say too little for an interval to help. */
const INTERVAL_RUNS = 30;

/**
 * The learning curve of the runs that were shown memories: at most 16 points of equally many runs, at least ten each where there are as
 * many. Held-out runs belong to the point of their time; they alone make a curve only where no run was served in the learned order.
 */
export function curveOf(all: readonly JudgedRun[]): readonly CurvePoint[] {
  const judged = all.filter(({ memoryOff }) => !memoryOff);
  const learned = judged.filter(({ heldOut }) => !heldOut);
  const counted = learned.length > 0 ? learned : judged;
  const points = Math.min(MOST_POINTS, Math.max(1, Math.floor(counted.length / LEAST_RUNS)));
  const starts = Array.from({ length: counted.length === 0 ? 0 : points }, (_, place) =>
    place === 0 ? 0 : judged.indexOf(counted[Math.floor((place * counted.length) / points)] as JudgedRun),
  );
  return starts.map((start, place) => pointOf(judged.slice(start, starts[place + 1])));
}

function pointOf(runs: readonly JudgedRun[]): CurvePoint {
  const heldOut = runs.filter((run) => run.heldOut);
  const learned = runs.filter((run) => !run.heldOut);
  const counted = learned.length > 0 ? learned : runs;
  const success = meanReward(counted);
  const { low, high } = wilson(success, counted.length);
  return {
    runs: counted.length,
    from: runs[0]?.at as number,
    to: runs.at(-1)?.at as number,
    success,
    ...(counted.length >= INTERVAL_RUNS ? { interval: { low, high } } : {}),
    ...(heldOut.length > 0 && learned.length > 0
      ? { heldOut: { runs: heldOut.length, success: meanReward(heldOut) } }
      : {}),
  };
}

function meanReward(runs: readonly JudgedRun[]): number {
  return runs.reduce((sum, { reward }) => sum + reward, 0) / runs.length;
}
