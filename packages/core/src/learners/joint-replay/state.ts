import type { StateCodec } from "../learner.js";
import { NOT_NEGATIVE, problemOf } from "../legality.js";
import { type RequestModel, requestModelCodec } from "../request-model.js";

/** What is known about a collection's requests. The gate's sums stay 0: this learner has no gate. */
export interface JointReplayShared extends RequestModel {
  /** Fits so far, by their shares: the clock by which the baseline forgets. */
  fits: number;
}

const model = requestModelCodec({ bias: 0, gateNumerator: 0, gateDenominator: 0 });

/** The number of fits as float64, then the model of requests. Little-endian. */
export const sharedCodec: StateCodec<JointReplayShared> = {
  empty: () => ({ ...model.empty(), fits: 0 }),
  decode(bytes) {
    const [fits] = new Float64Array(bytes.buffer, bytes.byteOffset, 1) as unknown as [number];
    return { ...model.decode(bytes.subarray(8)), fits };
  },
  encode(state, room) {
    const bytes = model.encode(state, room + 8);
    new Float64Array(bytes.buffer, room, 1)[0] = state.fits;
    return bytes;
  },
  problem: (state) => model.problem(state) ?? problemOf(state, { fits: NOT_NEGATIVE }),
};
