import { clamp, FINITE, NOT_NEGATIVE, type StateCodec } from "@qavr/core/learner";
import { scalarCodec } from "./scalar-codec.js";

/** Steps per unit of a countable number: 2²⁴. */
const STEPS = 2 ** 24;

/**
 * The nearest multiple of 2⁻²⁴ (off by at most 3·10⁻⁸), never −0. Sums and differences of such numbers are exact up to
 * 2²⁹ = 5·10⁸: they do not depend on the order of additions, and an addition can be taken back to the last bit. Sums of ordinary
 * fractions (0.3) have neither property.
 */
export function countable(value: number): number {
  return Math.round(value * STEPS) / STEPS + 0;
}

/** A sum of weighted values and the sum of their weights. Exact in any order ({@link countable}). */
export interface WeightedSum {
  /** Σ weight · value. */
  sum: number;
  /** Σ weight: the evidence. */
  evidence: number;
}

/** Operations on one kind of weighted sum. */
interface WeightedSums {
  readonly codec: StateCodec<WeightedSum>;
  /** Adds a value and returns the rounded `[weight, weight · value]`. */
  add(state: WeightedSum, value: number, weight: number): readonly [number, number];
  /** Takes back the result of `add`, at most as much as there is: an edit may have halved the sum. */
  remove(state: WeightedSum, added: readonly number[]): void;
  /** Keeps a share of both sums. */
  keep(state: WeightedSum, share: number): void;
}

/** Weighted sums of values in [`lowest`, 1]. */
function weightedSums(lowest: 0 | -1): WeightedSums {
  const scalars = scalarCodec<WeightedSum>({
    sum: { empty: 0, rule: FINITE },
    evidence: { empty: 0, rule: NOT_NEGATIVE },
  });
  const within = (sum: number, evidence: number): number => clamp(sum, lowest * evidence, evidence) + 0;
  return {
    codec: {
      ...scalars,
      problem(state) {
        const problem = scalars.problem(state);
        if (problem !== undefined) return problem;
        const { sum, evidence } = state as WeightedSum;
        return within(sum, evidence) === sum
          ? undefined
          : `sum must lie in [${lowest === 0 ? "0" : "−evidence"}, evidence]`;
      },
    },
    add(state, value, weight) {
      const evidence = countable(weight);
      const sum = countable(weight * value);
      state.evidence += evidence;
      state.sum += sum;
      return [evidence, sum];
    },
    remove(state, [evidence = 0, sum = 0]) {
      state.evidence = Math.max(0, state.evidence - evidence);
      state.sum = within(state.sum - sum, state.evidence);
    },
    keep(state, share) {
      state.evidence = countable(state.evidence * share);
      state.sum = within(countable(state.sum * share), state.evidence);
    },
  };
}

/** Sums of rewards in [0, 1]: counts of successes among outcomes. */
export const successes: WeightedSums = weightedSums(0);

/** Sums of advantages in [−1, 1]. */
export const advantages: WeightedSums = weightedSums(-1);

/** `(sum + strength · prior) / (evidence + strength)`: the mean, drawn to the prior as if that had been observed `strength` times. */
export function shrunkMean({ sum, evidence }: WeightedSum, prior: number, strength: number): number {
  return (sum + strength * prior) / (evidence + strength);
}
