import { clamp } from "../scoring/bounds.js";
import { countable } from "../scoring/countable.js";
import type { StateCodec } from "./learner.js";
import { FINITE, NOT_NEGATIVE } from "./legality.js";
import { scalarCodec } from "./scalar-codec.js";

/** A sum of weighted values and the sum of their weights: all that a mean needs. Exact whatever the order (countable.ts). */
export interface WeightedSum {
  /** Σ weight · value. */
  sum: number;
  /** Σ weight: the evidence. */
  evidence: number;
}

/** What one kind of weighted sum can do. */
export interface WeightedSums {
  readonly codec: StateCodec<WeightedSum>;
  /** Adds a value and returns `[weight, weight · value]` as they were added. */
  add(state: WeightedSum, value: number, weight: number): readonly [number, number];
  /** Takes back what `add` returned, but no more than there is: an edit in between may have halved it. */
  remove(state: WeightedSum, added: readonly number[]): void;
  /** Keeps a share of the evidence and of what it says. */
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

/** `(sum + strength · prior) / (evidence + strength)`: the mean, drawn to the prior as if that had been seen `strength` times. */
export function shrunkMean({ sum, evidence }: WeightedSum, prior: number, strength: number): number {
  return (sum + strength * prior) / (evidence + strength);
}
