import { MAX_DIMS } from "../embedding/projection.js";
import { addScaled } from "../scoring/vectors.js";
import type { StateCodec } from "./learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "./legality.js";
import { dimsOf } from "./state-dims.js";

/** What a learner that works in request space keeps about one memory. */
export interface VectorMemory {
  /** Evidence: sum of the weights of the runs it was shown in. */
  evidence: number;
  /** Sum of weighted advantages, whatever the request: survives a change of embedding model. */
  advantage: number;
  /** Sum of weighted advantages along the centred request vectors. Float32Array of the collection's dims, length 0 before the first. */
  vector: Float32Array;
}

const SCALARS = 2;

const RULES = { evidence: NOT_NEGATIVE, advantage: FINITE, vector: finiteVector(MAX_DIMS) };

/** `[evidence, advantage]` as float64, then the vector as float32; empty while nothing was learned. Little-endian. */
export const vectorMemoryCodec: StateCodec<VectorMemory> = {
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

/** Below this a memory's evidence is rounding left over from a correction. */
const NO_EVIDENCE = 1e-9;

/** Adds to what is known about a memory, in place; a memory that is left without evidence is as good as new. */
export function addAdvantage(
  memory: VectorMemory,
  evidence: number,
  advantage: number,
  z: Float32Array | undefined,
): void {
  memory.evidence += evidence;
  memory.advantage += advantage;
  if (memory.evidence < NO_EVIDENCE) {
    memory.evidence = 0;
    memory.advantage = 0;
    memory.vector = new Float32Array(0);
    return;
  }
  if (!z) return;
  if (memory.vector.length === 0) memory.vector = new Float32Array(z.length);
  if (memory.vector.length === z.length) addScaled(memory.vector, advantage, z);
}
