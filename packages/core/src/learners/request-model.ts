import { dequantise, quantise } from "../embedding/quantise.js";
import { MAX_DIMS } from "../embedding/request-vector.js";
import { FINITE, type FieldRule, finiteVector, NOT_NEGATIVE, problemOf } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { addScaled, dot, unitDifference } from "../scoring/vectors.js";
import type { LessonExposure, StateCodec } from "./learner.js";
import type { RunningSpread } from "./running-spread.js";

/** Part of a collection's state: the expected success of a request with any memories. */
export interface RequestBaseline {
  /** Float32Array of the collection's dims, length 0 before the first request with a vector. */
  baseline: Float32Array;
  bias: number;
  /** Lessons learned: the step size of the bias. */
  lessons: number;
}

/** A collection's requests, for learners over centred request vectors. `lessons` is also the clock of the gate's decay. */
export interface RequestModel extends RequestBaseline, RunningSpread {
  /** Mean request vector, length 0 before the first. */
  mean: Float32Array;
  /** Exposures learned along a vector: the step size of the mean. */
  steps: number;
  /** Regression of surprises on the predictions for the runs. */
  gateNumerator: number;
  gateDenominator: number;
}

// Parameters that all learners over request vectors share; part of the version of each.
/** Least number of runs in the average of the mean request. */
const MEAN_WARMUP = 10;
/** Most runs in it. Range 100..2000. */
const MEAN_WINDOW = 500;

/** Returns the number of values after the scalars. @throws INVALID_STATE for an impossible length */
export function dimsOf(length: number): number {
  if (Number.isInteger(length) && length >= 0 && length <= MAX_DIMS) return length;
  throw new QavrError("INVALID_STATE", "A state has an impossible length. Replay the ledger.");
}

/**
 * Bytes with vectors behind the first `start` bytes, which the caller fills. It reuses the buffer of the vectors when they lie at
 * their places already, as in a decoded draft; otherwise it returns a copy behind zeros.
 */
export function bytesBehind(start: number, ...vectors: readonly Float32Array[]): Uint8Array {
  const buffer = vectors[0]?.buffer;
  let length = start;
  let inPlace = true;
  for (const vector of vectors) {
    inPlace = inPlace && vector.buffer === buffer && vector.byteOffset === length;
    length += vector.byteLength;
  }
  if (buffer && inPlace && buffer.byteLength === length) return new Uint8Array(buffer);
  const bytes = new Uint8Array(length);
  const values = new Float32Array(bytes.buffer, start);
  let place = 0;
  for (const vector of vectors) {
    values.set(vector, place);
    place += vector.length;
  }
  return bytes;
}

/** Values of a model before any run. */
export type FirstModel = Pick<RequestModel, "bias" | "gateNumerator" | "gateDenominator">;

/** The codec of states with further numbers, 0 before any run: these in the order of `rules` as float64, then the rest. Little-endian. */
export function withNumbers<State extends object, Field extends string>(
  rest: StateCodec<State>,
  rules: Readonly<Record<Field, FieldRule>>,
): StateCodec<State & Record<Field, number>> {
  type Numbers = Record<Field, number>;
  const fields = Object.keys(rules) as Field[];
  const none = Object.fromEntries(fields.map((field) => [field, 0])) as Numbers;
  const length = fields.length * 8;
  return {
    empty: () => ({ ...rest.empty(), ...none }),
    decode(bytes) {
      const values = new Float64Array(bytes.buffer, bytes.byteOffset, fields.length);
      const state: State & Numbers = { ...rest.decode(bytes.subarray(length)), ...none };
      for (let i = 0; i < fields.length; i++) state[fields[i] as Field] = values[i] as (State & Numbers)[Field];
      return state;
    },
    encode(state, room) {
      const bytes = rest.encode(state, room + length);
      const values = new Float64Array(bytes.buffer, room, fields.length);
      for (let i = 0; i < fields.length; i++) values[i] = (state as Numbers)[fields[i] as Field];
      return bytes;
    },
    problem: (state) => rest.problem(state) ?? problemOf(state, rules),
  };
}

/** Mean and baseline as float32, of one length. Little-endian. */
const vectors: StateCodec<Pick<RequestModel, "mean" | "baseline">> = {
  empty: () => ({ mean: new Float32Array(0), baseline: new Float32Array(0) }),
  decode(bytes) {
    const dims = dimsOf(bytes.length / 8);
    return {
      mean: new Float32Array(bytes.buffer, bytes.byteOffset, dims),
      baseline: new Float32Array(bytes.buffer, bytes.byteOffset + dims * 4, dims),
    };
  },
  encode: ({ mean, baseline }, room) => bytesBehind(room, mean, baseline),
  problem: (state) =>
    problemOf(state, { mean: finiteVector(MAX_DIMS), baseline: finiteVector(MAX_DIMS) }) ??
    ((state as RequestModel).mean.length === (state as RequestModel).baseline.length
      ? undefined
      : "mean and baseline must be of one length"),
};

/** The numbers of a request model, then its vectors. */
export function requestModelCodec(first: FirstModel): StateCodec<RequestModel> {
  const model = withNumbers(vectors, {
    bias: FINITE,
    steps: NOT_NEGATIVE,
    lessons: NOT_NEGATIVE,
    gateNumerator: FINITE,
    gateDenominator: NOT_NEGATIVE,
    spread: NOT_NEGATIVE,
    spreadCount: NOT_NEGATIVE,
  });
  return { ...model, empty: () => ({ ...model.empty(), ...first }) };
}

/** Log-odds of success of a kind of request: `bias + baseline · q`; the bias alone without a vector of the collection's length. */
export function expectedLogit(state: RequestBaseline, q: Float32Array | undefined): number {
  return state.bias + (q && state.baseline.length === q.length ? dot(state.baseline, q) : 0);
}

/**
 * Centred request `z = unit(q − part · mean)`: the request without the part that all requests share. Without centring, vectors
 * learn the mean request and harm unrelated needs. `q` itself before the first run.
 *
 * @param part share of the mean request that is subtracted, in [0, 1]
 * @param room takes the vector, unless it is `q` itself
 */
export function centre(
  model: RequestModel | undefined,
  q: Float32Array,
  part = 1,
  room: Float32Array = new Float32Array(q.length),
): Float32Array {
  return model && model.mean.length === q.length ? unitDifference(q, model.mean, part, room) : q;
}

/** A direction to learn along: the unit vector of its recorded bytes, so that a lesson can be taken back exactly. */
export interface Direction {
  readonly z: Float32Array;
  readonly bytes: Int8Array;
}

/**
 * Moves the mean by all requests of a finished run (once per run), then returns the direction of each exposure: that of its first
 * lesson, where it is known. Undefined for an exposure without a request vector.
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
  return exposures.map(({ shared, vector, direction }) => {
    const bytes = direction ?? (vector && quantise(centre(shared, vector, part)));
    return bytes && { z: dequantise(bytes), bytes };
  });
}

function moveMean(model: RequestModel, vector: Float32Array, share: number): void {
  model.steps += 1;
  const rate = share / Math.min(model.steps + MEAN_WARMUP, MEAN_WINDOW);
  addScaled(model.mean, -rate, model.mean);
  addScaled(model.mean, rate, vector);
}
