import { between, clamp, type FieldRule, leftOf, NOT_NEGATIVE } from "@qavr/core/learner";
import type { ScalarField } from "./scalar-codec.js";
import { countable } from "./weighted-sum.js";

/** `value + rate · (target − value)`. */
export function movedTowards(value: number, target: number, rate: number): number {
  return value + rate * (target - value);
}

/** A moving average and its evidence. */
export interface MovingAverage {
  value: number;
  /** Σ weights of the updates. */
  evidence: number;
  /** Number of updates, needed to take one back after later ones. */
  updates: number;
}

/** Moving averages that start at one value and stay between two others. */
interface MovingAverages {
  readonly fields: Readonly<Record<keyof MovingAverage, ScalarField>>;
  /** Moves towards a target and returns what {@link takeBack} needs. The rate is multiplied by the weight. */
  move(average: MovingAverage, target: number, rate: number, weight: number): readonly number[];
  /** Takes back the remainder of an update ({@link leftOf}). */
  takeBack(average: MovingAverage, added: readonly number[]): void;
  /** Keeps a share of the evidence and of the distance from the start. */
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
      // Without updates the value is exactly the start.
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
