import { sigmoid } from "../scoring/bounds.js";
import { addScaled, dot } from "../scoring/vectors.js";

/** The numbers of the baseline: an online logistic regression of reward on the request. */
export const BASELINE = {
  /** Step of the bias, divided by √t. Range 0.1..1. */
  biasRate: 0.5,
  /** Step of the vector. Range 0.1..2. */
  rate: 1,
  /** Shrinkage of the vector per run. Range 0..0.01. */
  decay: 0.0002,
} as const;

/** Part of a collection's state: which success is to be expected of a request, whatever is shown. */
export interface RequestBaseline {
  /** Float32Array of the collection's dims, length 0 before the first request with a vector. */
  baseline: Float32Array;
  bias: number;
  /** Lessons learned: the step size of the bias. */
  lessons: number;
}

/** Log-odds of success of a kind of request: `bias + baseline · q`; the bias alone without a vector of the collection's length. */
export function expectedLogit(state: RequestBaseline, q: Float32Array | undefined): number {
  return state.bias + (q && state.baseline.length === q.length ? dot(state.baseline, q) : 0);
}

/** Expected success of a kind of request: `sigmoid(bias + baseline · q)`. */
export function expectedSuccess(state: RequestBaseline, q: Float32Array | undefined): number {
  return sigmoid(expectedLogit(state, q));
}

/** Shrinks the baseline's vector, as every run does once: `baseline −= 0.0002 · share · baseline`. */
export function fadeBaseline(state: RequestBaseline, share: number): void {
  addScaled(state.baseline, -BASELINE.decay * share, state.baseline);
}

/**
 * Moves the baseline by what it did not expect: `bias += 0.5/√t · drift · share`, `baseline += drift · share · q`.
 *
 * @param drift weight · (reward − expected)
 * @returns the two steps, for {@link moveBaselineBack}
 */
export function moveBaseline(
  state: RequestBaseline,
  q: Float32Array | undefined,
  drift: number,
  share: number,
): readonly [bias: number, step: number] {
  const bias = (BASELINE.biasRate / Math.sqrt(Math.max(1, state.lessons))) * drift * share;
  const step = q ? BASELINE.rate * drift * share : 0;
  state.bias += bias;
  if (step !== 0 && q) addScaled(state.baseline, step, q);
  return [bias, step];
}

/** Takes a step back, up to float32 rounding and what the slow decay has taken of it since. */
export function moveBaselineBack(
  state: RequestBaseline,
  q: Float32Array | undefined,
  bias: number,
  step: number,
): void {
  state.bias -= bias;
  if (step !== 0 && q) addScaled(state.baseline, -step, q);
}
