import { MAX_DIMS } from "../../embedding/request-vector.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "../../errors/field-rules.js";
import { kept } from "../../scoring/half-life.js";
import type { StateCodec } from "../learner.js";
import { bytesBehind, dimsOf, type RequestModel, requestModelCodec, withNumbers } from "../request-model.js";
import * as OAR from "./parameters.js";

/** State of one memory. */
export interface OarMemory {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Its effect on a run's logit for every request: it survives a change of embedding model. */
  reputation: number;
  /** Fisher information of its runs: 0.25 for a run of even odds with this memory alone. */
  information: number;
  /** Number of the collection's last run that taught it. */
  lastRun: number;
  /** Unix ms of the last outcome. Evidence that faded since then is subtracted when the state is read. */
  at: number;
  /** Its effect on a run's logit along each direction of request space. Length 0 before the first request with a vector. */
  vector: Float32Array;
}

/**
 * State of a collection. `gateNumerator` and `gateDenominator` of the request model are the sums of contexts in the regression of
 * {@link gatesOf}.
 */
export interface OarShared extends RequestModel {
  /** Runs with votes. */
  votedRuns: number;
  /** Total evidence of the regression, including the forgotten part. Unit: squared predictions. */
  predicted: number;
  /** Squared predictions by reputations, their products with the predictions by contexts, and with the surprises. */
  reputations: number;
  both: number;
  reputationSurprise: number;
  /** Σ τ, Σ τ r and Σ τ r (1 − r) of the rewards as they were reported, in the same window. */
  outcomes: number;
  rewards: number;
  between: number;
  /** Squared advantages, and their products with the surprises, of control runs and of runs that could have been one. */
  heldSquares: number;
  heldProducts: number;
  squares: number;
  products: number;
}

const MEMORY_SCALARS = 6;

const MEMORY_RULES = {
  evidence: NOT_NEGATIVE,
  reputation: FINITE,
  information: NOT_NEGATIVE,
  lastRun: NOT_NEGATIVE,
  at: FINITE,
  vector: finiteVector(MAX_DIMS),
};

/** Five numbers and the vector's length as float64, the vector as float32; empty while nothing was learned. Little-endian. */
export const memoryCodec: StateCodec<OarMemory> = {
  empty: () => ({ evidence: 0, reputation: 0, information: 0, lastRun: 0, at: 0, vector: new Float32Array(0) }),
  decode(bytes) {
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset, MEMORY_SCALARS);
    const start = MEMORY_SCALARS * 8;
    const dims = (bytes.length - start) / 4;
    return {
      evidence: scalars[0] as number,
      reputation: scalars[1] as number,
      information: scalars[2] as number,
      lastRun: scalars[3] as number,
      at: scalars[4] as number,
      vector: new Float32Array(bytes.buffer, bytes.byteOffset + start, dimsOf(scalars[5] === dims ? dims : Number.NaN)),
    };
  },
  encode({ evidence, reputation, information, lastRun, at, vector }, room) {
    if (evidence === 0) return new Uint8Array(room);
    const bytes = bytesBehind(room + MEMORY_SCALARS * 8, vector);
    new Float64Array(bytes.buffer, room, MEMORY_SCALARS).set([
      evidence,
      reputation,
      information,
      lastRun,
      at,
      vector.length,
    ]);
    return bytes;
  },
  problem: (state) => problemOf(state, MEMORY_RULES),
};

const model = requestModelCodec({ bias: OAR.bias, gateNumerator: 0, gateDenominator: 0 });

/** The fields of `oar` alone, then the model of requests. */
export const sharedCodec: StateCodec<OarShared> = withNumbers(model, {
  votedRuns: NOT_NEGATIVE,
  predicted: NOT_NEGATIVE,
  reputations: NOT_NEGATIVE,
  both: FINITE,
  reputationSurprise: FINITE,
  outcomes: NOT_NEGATIVE,
  rewards: NOT_NEGATIVE,
  between: NOT_NEGATIVE,
  heldSquares: NOT_NEGATIVE,
  heldProducts: FINITE,
  squares: NOT_NEGATIVE,
  products: FINITE,
});

/** Keeps a share of a memory's evidence. */
export function keepShare(memory: OarMemory, share: number): void {
  memory.evidence *= share;
  memory.reputation *= share;
  memory.information *= share;
  memory.vector = memory.vector.map((value) => value * share);
}

/** Applies the fading of a memory until `at`, Unix ms. */
export function fadeUntil(memory: OarMemory, at: number, halfLife: number): void {
  const share = kept(at - memory.at, halfLife);
  if (share < 1 && memory.evidence > 0) keepShare(memory, share);
  memory.at = Math.max(memory.at, at);
}
