import { dequantise, quantise } from "../embedding/quantise.js";
import { MAX_DIMS } from "../embedding/request-vector.js";
import { addScaled, unitDifference } from "../scoring/vectors.js";
import { dimsOf } from "./advantage-vector.js";
import { bytesBehind } from "./bytes-behind.js";
import type { LessonExposure, StateCodec } from "./learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "./legality.js";
import type { RequestBaseline } from "./request-baseline.js";
import type { RunningSpread } from "./running-spread.js";

/** What a learner over centred request vectors keeps about a collection's requests. `lessons` is also the clock of the gate's decay. */
export interface RequestModel extends RequestBaseline, RunningSpread {
  /** Mean request vector, length 0 before the first. */
  mean: Float32Array;
  /** Exposures learned along a vector: the step size of the mean. */
  steps: number;
  /** Regression of surprises on what was predicted for the runs. */
  gateNumerator: number;
  gateDenominator: number;
}

/** Numbers that every learner over request vectors shares; part of each one's version. */
export const REQUEST_MODEL = {
  /** The mean request is averaged over at least this many … */
  meanWarmup: 10,
  /** … and at most this many runs. Range 100..2000. */
  meanWindow: 500,
} as const;

const SCALARS = 7;

const RULES = {
  mean: finiteVector(MAX_DIMS),
  baseline: finiteVector(MAX_DIMS),
  bias: FINITE,
  steps: NOT_NEGATIVE,
  lessons: NOT_NEGATIVE,
  gateNumerator: FINITE,
  gateDenominator: NOT_NEGATIVE,
  spread: NOT_NEGATIVE,
  spreadCount: NOT_NEGATIVE,
};

/** Where a model starts, before any run. */
export type FirstModel = Pick<RequestModel, "bias" | "gateNumerator" | "gateDenominator">;

/** Seven float64, then mean and baseline as float32. Little-endian. */
export function requestModelCodec(first: FirstModel): StateCodec<RequestModel> {
  return {
    empty: () => ({
      mean: new Float32Array(0),
      baseline: new Float32Array(0),
      ...first,
      steps: 0,
      lessons: 0,
      spread: 0,
      spreadCount: 0,
    }),
    decode(bytes) {
      const scalars = new Float64Array(bytes.buffer, bytes.byteOffset, SCALARS);
      const offset = bytes.byteOffset + SCALARS * 8;
      const dims = dimsOf((bytes.length - SCALARS * 8) / 8);
      return {
        mean: new Float32Array(bytes.buffer, offset, dims),
        baseline: new Float32Array(bytes.buffer, offset + dims * 4, dims),
        bias: scalars[0] as number,
        steps: scalars[1] as number,
        lessons: scalars[2] as number,
        gateNumerator: scalars[3] as number,
        gateDenominator: scalars[4] as number,
        spread: scalars[5] as number,
        spreadCount: scalars[6] as number,
      };
    },
    encode(state, room) {
      const bytes = bytesBehind(room + SCALARS * 8, state.mean, state.baseline);
      const scalars = new Float64Array(bytes.buffer, room, SCALARS);
      scalars[0] = state.bias;
      scalars[1] = state.steps;
      scalars[2] = state.lessons;
      scalars[3] = state.gateNumerator;
      scalars[4] = state.gateDenominator;
      scalars[5] = state.spread;
      scalars[6] = state.spreadCount;
      return bytes;
    },
    problem: (state) =>
      problemOf(state, RULES) ??
      ((state as RequestModel).mean.length === (state as RequestModel).baseline.length
        ? undefined
        : "mean and baseline must be of one length"),
  };
}

/**
 * Centred request `z = unit(q − part · mean)`: what is special about this request. Without centring, vectors soak up the mean
 * request and harm unrelated needs. `q` itself before the first run.
 *
 * @param part how much of the mean request is taken away, in [0, 1]
 */
export function centre(model: RequestModel | undefined, q: Float32Array, part = 1): Float32Array {
  return model && model.mean.length === q.length ? unitDifference(q, model.mean, part) : q;
}

/** A direction to learn along: the unit vector of its bytes, so that what is taken back later is what was added. */
export interface Direction {
  readonly z: Float32Array;
  readonly bytes: Int8Array;
}

/**
 * Meets the requests of a run that has ended: moves the mean by all of them (once per run), then fixes the direction that each
 * exposure learns along. In this order a corrected run learns along the directions of its first lesson. A direction is undefined
 * for an exposure without a request vector.
 *
 *     mean += share · (q − mean) / min(t + 10, 500)          z = unit(q − part · mean), kept as signed bytes
 */
export function meetRequests(
  exposures: readonly LessonExposure<RequestModel, unknown>[],
  first: boolean,
  part = 1,
): (Direction | undefined)[] {
  for (const { shared, vector, share } of exposures) {
    if (!vector) continue;
    if (shared.mean.length === 0) {
      shared.mean = new Float32Array(vector.length);
      shared.baseline = new Float32Array(vector.length);
    }
    if (first) moveMean(shared, vector, share);
  }
  return exposures.map(({ shared, vector }) => {
    const bytes = vector && quantise(centre(shared, vector, part));
    return bytes && { z: dequantise(bytes), bytes };
  });
}

function moveMean(model: RequestModel, vector: Float32Array, share: number): void {
  model.steps += 1;
  const rate = share / Math.min(model.steps + REQUEST_MODEL.meanWarmup, REQUEST_MODEL.meanWindow);
  addScaled(model.mean, -rate, model.mean);
  addScaled(model.mean, rate, vector);
}
