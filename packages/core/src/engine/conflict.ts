import { QavrError } from "../errors/qavr-error.js";

/** For an idempotency key that another outcome has used, at place `seq`. */
export function conflict(key: string, seq: number): QavrError {
  return new QavrError(
    "IDEMPOTENCY_CONFLICT",
    `The idempotency key ${key} was used for another outcome (entry ${seq}). Repeat the same outcome, or choose a new key for a new one.`,
    { details: { key, seq } },
  );
}
