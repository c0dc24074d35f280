import type { StateCodec } from "../learner.js";
import { type RequestModel, requestModelCodec } from "../request-model.js";
import { JAR } from "./parameters.js";

/** What is known about a collection's requests. */
export interface JarShared extends RequestModel {
  /** Signs of the last requests' values, {@link wordsOf} words each, in a ring. Empty unless the setting asks how familiar a request is. */
  signatures: Int32Array;
  /** Requests that were ever put into the ring. */
  met: number;
}

/** 32-bit words of one signature: a bit for each value of the collection's request vectors. Even: float64 follow in its bytes. */
export function wordsOf({ mean }: RequestModel): number {
  return 2 * Math.ceil(mean.length / 64);
}

const HEADER_BYTES = 16;

const model = requestModelCodec({
  bias: JAR.bias,
  gateNumerator: JAR.gateNumerator,
  gateDenominator: JAR.gateDenominator,
});

/** Two float64 (requests met, words that follow), the signatures, then the model of requests. Little-endian. */
export const sharedCodec: StateCodec<JarShared> = {
  empty: () => ({ ...model.empty(), signatures: new Int32Array(0), met: 0 }),
  decode(bytes) {
    const [met, words] = new Float64Array(bytes.buffer, bytes.byteOffset, 2) as unknown as [number, number];
    const signatures = new Int32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, words);
    return { ...model.decode(bytes.subarray(HEADER_BYTES + words * 4)), signatures, met };
  },
  encode(state, room) {
    const { signatures, met } = state;
    const bytes = model.encode(state, room + HEADER_BYTES + signatures.length * 4);
    new Float64Array(bytes.buffer, room, 2).set([met, signatures.length]);
    new Int32Array(bytes.buffer, room + HEADER_BYTES, signatures.length).set(signatures);
    return bytes;
  },
  problem(state) {
    const problem = model.problem(state);
    if (problem !== undefined) return problem;
    const { signatures, met } = state as JarShared;
    const words = wordsOf(state as JarShared);
    if (!(signatures instanceof Int32Array) || signatures.length > JAR.log * words || signatures.length % words > 0) {
      return `signatures must be an Int32Array of at most ${JAR.log} times ${words} words`;
    }
    return Number.isInteger(met) && met * words >= signatures.length ? undefined : "met must count the signatures";
  },
};
