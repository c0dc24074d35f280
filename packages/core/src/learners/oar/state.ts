import { MAX_DIMS } from "../../embedding/projection.js";
import { dimsOf } from "../advantage-vector.js";
import type { StateCodec } from "../learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf, UNIT } from "../legality.js";
import { type RequestModel, requestModelCodec } from "../request-model.js";
import { FOOTPRINT_DIMS } from "./footprint.js";
import type { OarNumbers } from "./parameters.js";

/** What is known about one memory. */
export interface OarMemory {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Sum of the residuals that it carried, whatever the request: survives a change of embedding model. */
  advantage: number;
  /** Fisher information of its runs, 1 for a run of even odds whose only memory it was. */
  information: number;
  /** Votes that it got. */
  votes: number;
  /** Number of the collection's run that showed it last. */
  lastRun: number;
  /** What it adds to a run's logit along each direction of request space. Length 0 before the first request with a vector. */
  vector: Float32Array;
  /** Sum of the requests that it was shown for, folded to at most 64 dims: where its evidence comes from. */
  footprint: Float32Array;
}

/** What is known about a collection's requests. */
export interface OarShared extends RequestModel {
  /** Regression of surprises on what tells the memories of a list apart. */
  contrastNumerator: number;
  contrastDenominator: number;
  /** Share of recent runs that were voted on. */
  voteRate: number;
}

const MEMORY_SCALARS = 5;

const MEMORY_RULES = {
  evidence: NOT_NEGATIVE,
  advantage: FINITE,
  information: NOT_NEGATIVE,
  votes: NOT_NEGATIVE,
  lastRun: NOT_NEGATIVE,
  vector: finiteVector(MAX_DIMS),
  footprint: finiteVector(FOOTPRINT_DIMS),
};

/** Five float64, the vector and the footprint as float32; empty while nothing was learned. Little-endian. */
export const memoryCodec: StateCodec<OarMemory> = {
  empty: () => ({
    evidence: 0,
    advantage: 0,
    information: 0,
    votes: 0,
    lastRun: 0,
    vector: new Float32Array(0),
    footprint: new Float32Array(0),
  }),
  decode(bytes) {
    const [evidence, advantage, information, votes, lastRun] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      MEMORY_SCALARS,
    ) as unknown as [number, number, number, number, number];
    const start = bytes.byteOffset + MEMORY_SCALARS * 8;
    // The footprint is as long as the vector, but no longer than its bound: both follow from their sum.
    const values = (bytes.length - MEMORY_SCALARS * 8) / 4;
    const dims = dimsOf(values > 2 * FOOTPRINT_DIMS ? values - FOOTPRINT_DIMS : values / 2);
    return {
      evidence,
      advantage,
      information,
      votes,
      lastRun,
      vector: new Float32Array(bytes.buffer, start, dims),
      footprint: new Float32Array(bytes.buffer, start + dims * 4, values - dims),
    };
  },
  encode({ evidence, advantage, information, votes, lastRun, vector, footprint }, room) {
    if (evidence === 0) return new Uint8Array(room);
    const bytes = new Uint8Array(room + MEMORY_SCALARS * 8 + (vector.length + footprint.length) * 4);
    new Float64Array(bytes.buffer, room, MEMORY_SCALARS).set([evidence, advantage, information, votes, lastRun]);
    const values = new Float32Array(bytes.buffer, room + MEMORY_SCALARS * 8);
    values.set(vector);
    values.set(footprint, vector.length);
    return bytes;
  },
  problem(state) {
    const problem = problemOf(state, MEMORY_RULES);
    if (problem !== undefined) return problem;
    const { vector, footprint } = state as OarMemory;
    const wanted = Math.min(vector.length, FOOTPRINT_DIMS);
    return footprint.length === wanted
      ? undefined
      : `footprint must have ${wanted} values beside a vector of ${vector.length}`;
  },
};

const SHARED_SCALARS = 3;
const SHARED_RULES = { contrastNumerator: FINITE, contrastDenominator: NOT_NEGATIVE, voteRate: UNIT };

/** Three float64, padding, then the model of requests. Little-endian. */
export function sharedCodec(numbers: OarNumbers): StateCodec<OarShared> {
  const { gateNumerator, gateDenominator, contrastNumerator, contrastDenominator } = numbers;
  const model = requestModelCodec({ bias: BIAS, gateNumerator, gateDenominator });
  return {
    empty: () => ({ ...model.empty(), contrastNumerator, contrastDenominator, voteRate: 0 }),
    decode(bytes) {
      const [contrast, denominator, voteRate] = new Float64Array(
        bytes.buffer,
        bytes.byteOffset,
        SHARED_SCALARS,
      ) as unknown as [number, number, number];
      const rest = model.decode(bytes.subarray(SHARED_SCALARS * 8));
      return { ...rest, contrastNumerator: contrast, contrastDenominator: denominator, voteRate };
    },
    encode(state, room) {
      const bytes = model.encode(state, room + SHARED_SCALARS * 8);
      new Float64Array(bytes.buffer, room, SHARED_SCALARS).set([
        state.contrastNumerator,
        state.contrastDenominator,
        state.voteRate,
      ]);
      return bytes;
    },
    problem: (state) => model.problem(state) ?? problemOf(state, SHARED_RULES),
  };
}

/** Where the baseline starts: a little under even odds. Logits. */
const BIAS = -0.3;
