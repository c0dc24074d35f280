import { clamp } from "../scoring/bounds.js";
import { countable } from "../scoring/countable.js";
import { between, type FieldRule, NOT_NEGATIVE } from "./legality.js";
import type { ScalarField } from "./scalar-codec.js";

/** `value + rate · (target − value)`: the average moves towards what came last. */
export function movedTowards(value: number, target: number, rate: number): number {
  return value + rate * (target - value);
}

/**
 * What later updates have left of an earlier change: `change · (1 − rate)^later`. Exact when the later ones had the same rate
 * and none was clipped; a moving average keeps no more than that of the order in which it was taught.
 *
 * @param later updates since the change, at least 0
 */
export function leftOf(change: number, rate: number, later: number): number {
  return change * (1 - rate) ** Math.max(0, later);
}

/** A moving average and how much stands behind it. */
export interface MovingAverage {
  value: number;
  /** Σ weights of the updates. */
  evidence: number;
  /** Updates, to find the place of one among later ones when it is taken back. */
  updates: number;
}

/** Moving averages that start at one value and stay between two others. */
export interface MovingAverages {
  readonly fields: Readonly<Record<keyof MovingAverage, ScalarField>>;
  /** Moves towards a target and returns what {@link takeBack} needs. The rate is multiplied by the weight. */
  move(average: MovingAverage, target: number, rate: number, weight: number): readonly number[];
  /** Takes an update back as far as later ones have left of it ({@link leftOf}). */
  takeBack(average: MovingAverage, added: readonly number[]): void;
  /** Keeps a share of the evidence and of the way from the start. */
  keep(average: MovingAverage, share: number): void;
}

export function movingAverages(start: number, low: number, high: number): MovingAverages {
  const rule: FieldRule = between(low, high);
  return {
    fields: {
      value: { empty: start, rule },
      evidence: { empty: 0, rule: NOT_NEGATIVE },
      updates: { empty: 0, rule: NOT_NEGATIVE },
    },
    move(average, target, rate, weight) {
      const before = average.value;
      const evidence = countable(weight);
      average.value = clamp(movedTowards(before, target, rate * weight), low, high);
      average.evidence += evidence;
      average.updates += 1;
      return [average.value - before, rate * weight, average.updates, evidence];
    },
    takeBack(average, [change = 0, rate = 0, updates = 0, evidence = 0]) {
      const left = leftOf(change, rate, average.updates - updates);
      average.updates = Math.max(0, average.updates - 1);
      // Nothing learned is exactly the start, whatever rounding left.
      average.value = average.updates === 0 ? start : clamp(average.value - left, low, high);
      average.evidence = average.updates === 0 ? 0 : Math.max(0, average.evidence - evidence);
    },
    keep(average, share) {
      average.value = start + (average.value - start) * share;
      average.evidence = countable(average.evidence * share);
      if (average.evidence === 0) average.updates = 0;
    },
  };
}
