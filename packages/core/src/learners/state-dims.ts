import { MAX_DIMS } from "../embedding/projection.js";
import { QavrError } from "../errors/qavr-error.js";

/** @throws INVALID_STATE for a length that no state has */
export function dimsOf(length: number): number {
  if (Number.isInteger(length) && length >= 0 && length <= MAX_DIMS) return length;
  throw new QavrError("INVALID_STATE", "A stored vector has an impossible length. Replay the ledger.");
}
