import { MAX_DIMS } from "../../embedding/projection.js";
import { QavrError } from "../../errors/qavr-error.js";
import type { StateCodec } from "../learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "../legality.js";
import type { RequestBaseline } from "../request-baseline.js";
import type { RunningSpread } from "../running-spread.js";
import { CAV } from "./parameters.js";

/** What is known about one memory. */
export interface CavMemory {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Sum of weighted advantages, whatever the request: survives a change of embedding model. */
  advantage: number;
  /** Sum of weighted advantages along the centred request vectors. Float32Array of the collection's dims, length 0 before the first. */
  vector: Float32Array;
}

/** What is known about a collection's requests. `lessons` is also the clock of the gate's decay. */
export interface CavShared extends RequestBaseline, RunningSpread {
  /** Mean request vector, length 0 before the first. */
  mean: Float32Array;
  /** Exposures learned along a vector: the step size of the mean. */
  steps: number;
  gateNumerator: number;
  gateDenominator: number;
}

const MEMORY_SCALARS = 2;
const SHARED_SCALARS = 7;

const MEMORY_RULES = { evidence: NOT_NEGATIVE, advantage: FINITE, vector: finiteVector(MAX_DIMS) };
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

/** @throws INVALID_STATE for a length that no state has */
function dimsOf(length: number): number {
  if (Number.isInteger(length) && length >= 0 && length <= MAX_DIMS) return length;
  throw new QavrError("INVALID_STATE", "A stored cav state has an impossible length. Replay the ledger.");
}

/** `[evidence, advantage]` as float64, then the vector as float32; empty while nothing was learned. Little-endian. */
export const memoryCodec: StateCodec<CavMemory> = {
  empty: () => ({ evidence: 0, advantage: 0, vector: new Float32Array(0) }),
  decode(bytes) {
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset, MEMORY_SCALARS);
    const offset = MEMORY_SCALARS * 8;
    return {
      evidence: scalars[0] as number,
      advantage: scalars[1] as number,
      vector: new Float32Array(bytes.buffer, bytes.byteOffset + offset, dimsOf((bytes.length - offset) / 4)),
    };
  },
  encode(state, room) {
    if (state.evidence === 0) return new Uint8Array(room);
    const bytes = new Uint8Array(room + MEMORY_SCALARS * 8 + state.vector.length * 4);
    const scalars = new Float64Array(bytes.buffer, room, MEMORY_SCALARS);
    scalars[0] = state.evidence;
    scalars[1] = state.advantage;
    new Float32Array(bytes.buffer, room + MEMORY_SCALARS * 8).set(state.vector);
    return bytes;
  },
  problem: (state) => problemOf(state, MEMORY_RULES),
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
