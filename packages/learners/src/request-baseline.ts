import { QavrError } from "@qavr/core";
import {
  addScaled,
  expectedLogit,
  FINITE,
  finiteVector,
  type Lesson,
  type LessonExposure,
  MAX_DIMS,
  NOT_NEGATIVE,
  problemOf,
  type RequestBaseline,
  type RunningSpread,
  type StateCodec,
  sigmoid,
} from "@qavr/core/learner";

/** The parameters of the baseline, an online logistic regression of reward on the request. */
const BASELINE = {
  /** Step of the bias, divided by √t. Range 0.1..1. */
  biasRate: 0.5,
  /** Step of the vector. Range 0.1..2. */
  rate: 1,
  /** Shrinkage of the vector per run. Range 0..0.01. */
  decay: 0.0002,
} as const;

/** Expected success of a kind of request: `sigmoid(bias + baseline · q)`. */
export function expectedSuccess(state: RequestBaseline, q: Float32Array | undefined): number {
  return sigmoid(expectedLogit(state, q));
}

/** Shrinks the baseline's vector, as every run does once: `baseline −= 0.0002 · share · baseline`. */
export function fadeBaseline(state: RequestBaseline, share: number): void {
  addScaled(state.baseline, -BASELINE.decay * share, state.baseline);
}

/**
 * Moves the baseline by its error: `bias += 0.5/√t · drift · share`, `baseline += drift · share · q`.
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

/** Takes a step back, up to float32 rounding and the slow decay since then. */
export function moveBaselineBack(
  state: RequestBaseline,
  q: Float32Array | undefined,
  bias: number,
  step: number,
): void {
  state.bias -= bias;
  if (step !== 0 && q) addScaled(state.baseline, -step, q);
}

/** A collection of a learner that subtracts the expected success and adds to similarity. */
export interface BaselineShared extends RequestBaseline, RunningSpread {}

const SCALARS = 4;

const RULES = {
  baseline: finiteVector(MAX_DIMS),
  bias: FINITE,
  lessons: NOT_NEGATIVE,
  spread: NOT_NEGATIVE,
  spreadCount: NOT_NEGATIVE,
};

/** `[bias, lessons, spread, spreadCount]` as float64, then the baseline as float32. Little-endian. */
export const baselineCodec: StateCodec<BaselineShared> = {
  empty: () => ({ baseline: new Float32Array(0), bias: 0, lessons: 0, spread: 0, spreadCount: 0 }),
  decode(bytes) {
    const dims = (bytes.length - SCALARS * 8) / 4;
    if (!Number.isInteger(dims) || dims < 0 || dims > MAX_DIMS) {
      throw new QavrError("INVALID_STATE", "A stored baseline has an impossible length. Replay the ledger.");
    }
    const [bias, lessons, spread, spreadCount] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      SCALARS,
    ) as unknown as [number, number, number, number];
    const baseline = new Float32Array(bytes.buffer, bytes.byteOffset + SCALARS * 8, dims);
    return { baseline, bias, lessons, spread, spreadCount };
  },
  encode({ baseline, bias, lessons, spread, spreadCount }, room) {
    const bytes = new Uint8Array(room + SCALARS * 8 + baseline.length * 4);
    new Float64Array(bytes.buffer, room, SCALARS).set([bias, lessons, spread, spreadCount]);
    new Float32Array(bytes.buffer, room + SCALARS * 8).set(baseline);
    return bytes;
  },
  problem: (state) => problemOf(state, RULES),
};

/** Surprise of a run, and the baseline's steps. */
interface Surprise {
  /** `r − b`: reward minus expected success. In (−1, 1). */
  readonly surprise: number;
  /** Per exposure: the steps of the baseline, for `moveBaselineBack`. */
  readonly steps: readonly (readonly [bias: number, step: number])[];
}

/** Counts a run and fades the baseline's vector: once per run, before any prediction. */
export function countRun({ exposures, first }: Lesson<RequestBaseline, unknown>): void {
  if (!first) return;
  for (const shared of new Set(exposures.map((exposure) => exposure.shared))) shared.lessons += 1;
  for (const { shared, vector, share } of exposures) {
    if (!vector) continue;
    if (shared.baseline.length === 0) shared.baseline = new Float32Array(vector.length);
    fadeBaseline(shared, share);
  }
}

/**
 * Counts the run and moves the baseline by the difference of reward and expected success. Returns undefined when the reward is
 * unknown.
 */
export function learnSurprise(lesson: Lesson<RequestBaseline, unknown>): Surprise | undefined {
  const { exposures, reward, weight } = lesson;
  countRun(lesson);
  if (reward === null) return undefined;
  const expected = exposures.reduce(
    (sum, { shared, vector, share }) => sum + share * expectedSuccess(shared, vector),
    0,
  );
  const surprise = reward - expected;
  return { surprise, steps: moveBaselines(lesson, surprise * weight) };
}

/** Moves the baseline of each exposure's collection by its share of the surprise. */
export function moveBaselines(
  { exposures }: Lesson<RequestBaseline, unknown>,
  drift: number,
): (readonly [bias: number, step: number])[] {
  return exposures.map(({ shared, vector, share }) => moveBaseline(shared, vector, drift, share));
}

/** Takes back an exposure's steps of the baseline. */
export function withdrawSteps(
  { shared, vector }: LessonExposure<RequestBaseline, unknown>,
  [bias = 0, step = 0]: readonly number[],
): void {
  moveBaselineBack(shared, vector, bias, step);
}
