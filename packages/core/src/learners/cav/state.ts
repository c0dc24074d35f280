import { MAX_DIMS } from "../../embedding/projection.js";
import { type AdvantageVector, dimsOf } from "../advantage-vector.js";
import type { StateCodec } from "../learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "../legality.js";
import type { RequestBaseline } from "../request-baseline.js";
import type { RunningSpread } from "../running-spread.js";
import { CAV } from "./parameters.js";

/** What is known about one memory: advantages along the centred request vectors. */
export type CavMemory = AdvantageVector;

/** What is known about a collection's requests. `lessons` is also the clock of the gate's decay. */
export interface CavShared extends RequestBaseline, RunningSpread {
  /** Mean request vector, length 0 before the first. */
  mean: Float32Array;
  /** Exposures learned along a vector: the step size of the mean. */
  steps: number;
  gateNumerator: number;
  gateDenominator: number;
}

const SHARED_SCALARS = 7;

const SHARED_RULES = {
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

/** Seven float64, then mean and baseline as float32. Little-endian. */
export const sharedCodec: StateCodec<CavShared> = {
  empty: () => ({
    mean: new Float32Array(0),
    baseline: new Float32Array(0),
    bias: 0,
    steps: 0,
    lessons: 0,
    gateNumerator: CAV.gateNumerator,
    gateDenominator: CAV.gateDenominator,
    spread: 0,
    spreadCount: 0,
  }),
  decode(bytes) {
    const [bias, steps, lessons, gateNumerator, gateDenominator, spread, spreadCount] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      SHARED_SCALARS,
    ) as unknown as [number, number, number, number, number, number, number];
    const offset = bytes.byteOffset + SHARED_SCALARS * 8;
    const dims = dimsOf((bytes.length - SHARED_SCALARS * 8) / 8);
    return {
      mean: new Float32Array(bytes.buffer, offset, dims),
      baseline: new Float32Array(bytes.buffer, offset + dims * 4, dims),
      bias,
      steps,
      lessons,
      gateNumerator,
      gateDenominator,
      spread,
      spreadCount,
    };
  },
  encode(state, room) {
    const dims = state.mean.length;
    const bytes = new Uint8Array(room + SHARED_SCALARS * 8 + dims * 8);
    new Float64Array(bytes.buffer, room, SHARED_SCALARS).set([
      state.bias,
      state.steps,
      state.lessons,
      state.gateNumerator,
      state.gateDenominator,
      state.spread,
      state.spreadCount,
    ]);
    const vectors = room + SHARED_SCALARS * 8;
    new Float32Array(bytes.buffer, vectors, dims).set(state.mean);
    new Float32Array(bytes.buffer, vectors + dims * 4, dims).set(state.baseline);
    return bytes;
  },
  problem: (state) =>
    problemOf(state, SHARED_RULES) ??
    ((state as CavShared).mean.length === (state as CavShared).baseline.length
      ? undefined
      : "mean and baseline must be of one length"),
};
