import {
  bytesBehind,
  dimsOf,
  FINITE,
  finiteVector,
  kept,
  MAX_DIMS,
  NOT_NEGATIVE,
  problemOf,
  type RequestModel,
  requestModelCodec,
  type StateCodec,
  withNumbers,
} from "@qavr/core/learner";
import { FOOTPRINT_DIMS } from "./footprint.js";
import { OAR1 } from "./parameters.js";

/** State of one memory. */
export interface Oar1Memory {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Sum of its parts of surprises, for all requests alike: it survives a change of embedding model. */
  advantage: number;
  /** Fisher information of its runs: 1 for a run of even odds with this memory alone. */
  information: number;
  /** Number of the collection's last run that taught it. */
  lastRun: number;
  /** Unix ms of the last outcome. Evidence that faded since then is subtracted when the state is read. */
  at: number;
  /** Its effect on a run's logit along each direction of request space. Length 0 before the first request with a vector. */
  vector: Float32Array;
  /** Sum of the folded requests of its runs. Empty for the setting `balanced`. */
  footprint: Float32Array;
}

/** State of a collection. */
export interface Oar1Shared extends RequestModel {
  /** Runs with votes. */
  votedRuns: number;
  /** Total evidence of the gate's sums, including the forgotten part. */
  gateSeen: number;
  /** Regression of the vectors' prediction errors on the difference that scalar advantages would have made. */
  scalarNumerator: number;
  scalarDenominator: number;
  scalarSeen: number;
}

const MEMORY_SCALARS = 6;

const MEMORY_RULES = {
  evidence: NOT_NEGATIVE,
  advantage: FINITE,
  information: NOT_NEGATIVE,
  lastRun: NOT_NEGATIVE,
  at: FINITE,
  vector: finiteVector(MAX_DIMS),
  footprint: finiteVector(FOOTPRINT_DIMS),
};

/** Five numbers and the vector's length as float64, the vector and the footprint as float32; empty while nothing was learned. Little-endian. */
export const memoryCodec: StateCodec<Oar1Memory> = {
  empty: () => ({
    evidence: 0,
    advantage: 0,
    information: 0,
    lastRun: 0,
    at: 0,
    vector: new Float32Array(0),
    footprint: new Float32Array(0),
  }),
  decode(bytes) {
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset, MEMORY_SCALARS);
    const start = bytes.byteOffset + MEMORY_SCALARS * 8;
    const dims = dimsOf(scalars[5] as number);
    const rest = dimsOf((bytes.length - MEMORY_SCALARS * 8) / 4 - dims);
    return {
      evidence: scalars[0] as number,
      advantage: scalars[1] as number,
      information: scalars[2] as number,
      lastRun: scalars[3] as number,
      at: scalars[4] as number,
      vector: new Float32Array(bytes.buffer, start, dims),
      footprint: new Float32Array(bytes.buffer, start + dims * 4, rest),
    };
  },
  encode({ evidence, advantage, information, lastRun, at, vector, footprint }, room) {
    if (evidence === 0) return new Uint8Array(room);
    const bytes = bytesBehind(room + MEMORY_SCALARS * 8, vector, footprint);
    const scalars = new Float64Array(bytes.buffer, room, MEMORY_SCALARS);
    scalars[0] = evidence;
    scalars[1] = advantage;
    scalars[2] = information;
    scalars[3] = lastRun;
    scalars[4] = at;
    scalars[5] = vector.length;
    return bytes;
  },
  problem: (state) => problemOf(state, MEMORY_RULES),
};

const model = requestModelCodec({
  bias: OAR1.bias,
  gateNumerator: OAR1.gateNumerator,
  gateDenominator: OAR1.gateDenominator,
});

/** The fields of `oar` alone, then the model of requests. */
export const sharedCodec: StateCodec<Oar1Shared> = withNumbers(model, {
  votedRuns: NOT_NEGATIVE,
  gateSeen: NOT_NEGATIVE,
  scalarNumerator: FINITE,
  scalarDenominator: NOT_NEGATIVE,
  scalarSeen: NOT_NEGATIVE,
});

/** Keeps a share of a memory's evidence. */
export function keepShare(memory: Oar1Memory, share: number): void {
  memory.evidence *= share;
  memory.advantage *= share;
  memory.information *= share;
  memory.vector = memory.vector.map((value) => value * share);
  memory.footprint = memory.footprint.map((value) => value * share);
}

/** Applies the fading of a memory until `at`, Unix ms. */
export function fadeUntil(memory: Oar1Memory, at: number, halfLife: number): void {
  const share = kept(at - memory.at, halfLife);
  if (share < 1 && memory.evidence > 0) keepShare(memory, share);
  memory.at = Math.max(memory.at, at);
}
