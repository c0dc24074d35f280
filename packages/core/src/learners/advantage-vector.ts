import { MAX_DIMS } from "../embedding/request-vector.js";
import { QavrError } from "../errors/qavr-error.js";
import { addScaled, dot } from "../scoring/vectors.js";
import type { StateCodec } from "./learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "./legality.js";

/** What outcomes say about one memory: how much better than expected runs went, and for which requests. */
export interface AdvantageVector {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Sum of weighted advantages, whatever the request: survives a change of embedding model. */
  advantage: number;
  /** Sum of weighted advantages along request vectors. Float32Array of the collection's dims, length 0 before the first. */
  vector: Float32Array;
}

/** Below this a memory's evidence is rounding left over from a correction. */
const NO_EVIDENCE = 1e-9;

const SCALARS = 2;

const RULES = { evidence: NOT_NEGATIVE, advantage: FINITE, vector: finiteVector(MAX_DIMS) };

/** How many values follow the scalars. @throws INVALID_STATE for a length that no state has */
export function dimsOf(length: number): number {
  if (Number.isInteger(length) && length >= 0 && length <= MAX_DIMS) return length;
  throw new QavrError("INVALID_STATE", "A stored learner's state has an impossible length. Replay the ledger.");
}

/** `[evidence, advantage]` as float64, then the vector as float32; empty while nothing was learned. Little-endian. */
export const advantageVectorCodec: StateCodec<AdvantageVector> = {
  empty: () => ({ evidence: 0, advantage: 0, vector: new Float32Array(0) }),
  decode(bytes) {
    const scalars = new Float64Array(bytes.buffer, bytes.byteOffset, SCALARS);
    const offset = SCALARS * 8;
    return {
      evidence: scalars[0] as number,
      advantage: scalars[1] as number,
      vector: new Float32Array(bytes.buffer, bytes.byteOffset + offset, dimsOf((bytes.length - offset) / 4)),
    };
  },
  encode(state, room) {
    if (state.evidence === 0) return new Uint8Array(room);
    const bytes = new Uint8Array(room + SCALARS * 8 + state.vector.length * 4);
    const scalars = new Float64Array(bytes.buffer, room, SCALARS);
    scalars[0] = state.evidence;
    scalars[1] = state.advantage;
    new Float32Array(bytes.buffer, room + SCALARS * 8).set(state.vector);
    return bytes;
  },
  problem: (state) => problemOf(state, RULES),
};

/** What a memory says of a request, `v · z`; 0 where request and memory share no vector space. */
export function memoryLogit({ vector }: AdvantageVector, z: Float32Array | undefined): number {
  return z && vector.length === z.length ? dot(vector, z) : 0;
}

/** Adds evidence and an advantage along a direction, or takes them back where they are negative. */
export function addAlong(
  memory: AdvantageVector,
  evidence: number,
  advantage: number,
  direction: Float32Array | undefined,
): void {
  memory.evidence += evidence;
  memory.advantage += advantage;
  if (memory.evidence < NO_EVIDENCE) {
    memory.evidence = 0;
    memory.advantage = 0;
    memory.vector = new Float32Array(0);
    return;
  }
  if (!direction) return;
  if (memory.vector.length === 0) memory.vector = new Float32Array(direction.length);
  if (memory.vector.length === direction.length) addScaled(memory.vector, advantage, direction);
}

/** Keeps a share of the evidence and of what it says. */
export function keepAlong(memory: AdvantageVector, share: number): void {
  memory.evidence *= share;
  memory.advantage *= share;
  memory.vector = memory.vector.map((value) => value * share);
}
