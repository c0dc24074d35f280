import { MAX_DIMS } from "../embedding/request-vector.js";
import { QavrError } from "../errors/qavr-error.js";
import type { StateCodec } from "./learner.js";
import { FINITE, finiteVector, NOT_NEGATIVE, problemOf } from "./legality.js";
import type { RequestBaseline } from "./request-baseline.js";
import type { RunningSpread } from "./running-spread.js";

/** A collection of a learner that subtracts what was to be expected of a request, and adds to similarity. */
export interface BaselineShared extends RequestBaseline, RunningSpread {}

const SCALARS = 4;

const RULES = {
  baseline: finiteVector(MAX_DIMS),
  bias: FINITE,
  lessons: NOT_NEGATIVE,
  spread: NOT_NEGATIVE,
  spreadCount: NOT_NEGATIVE,
};

/** `[bias, lessons, spread, spreadCount]` as float64, then the baseline as float32. Little-endian. */
export const baselineCodec: StateCodec<BaselineShared> = {
  empty: () => ({ baseline: new Float32Array(0), bias: 0, lessons: 0, spread: 0, spreadCount: 0 }),
  decode(bytes) {
    const dims = (bytes.length - SCALARS * 8) / 4;
    if (!Number.isInteger(dims) || dims < 0 || dims > MAX_DIMS) {
      throw new QavrError("INVALID_STATE", "A stored baseline has an impossible length. Replay the ledger.");
    }
    const [bias, lessons, spread, spreadCount] = new Float64Array(
      bytes.buffer,
      bytes.byteOffset,
      SCALARS,
    ) as unknown as [number, number, number, number];
    const baseline = new Float32Array(bytes.buffer, bytes.byteOffset + SCALARS * 8, dims);
    return { baseline, bias, lessons, spread, spreadCount };
  },
  encode({ baseline, bias, lessons, spread, spreadCount }, room) {
    const bytes = new Uint8Array(room + SCALARS * 8 + baseline.length * 4);
    new Float64Array(bytes.buffer, room, SCALARS).set([bias, lessons, spread, spreadCount]);
    new Float32Array(bytes.buffer, room + SCALARS * 8).set(baseline);
    return bytes;
  },
  problem: (state) => problemOf(state, RULES),
};
