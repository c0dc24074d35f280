import { type ErrorCode, QavrError } from "../errors/qavr-error.js";

/**
 * Failures of the store itself: the same call may succeed later. All others would fail again. Damage is none of them: the store has
 * answered, and the damage of one namespace must not stop the others.
 */
const OUT_OF_REACH: readonly ErrorCode[] = [
  "STORE_UNAVAILABLE",
  "STORE_UNWRITABLE",
  "STORE_BUSY",
  "STORE_FAILED",
  "STORE_TIMEOUT",
  "STORE_COMMIT_UNKNOWN",
  "STORE_CIRCUIT_OPEN",
];

/** A store's failure with a code, whatever the store threw. */
export function asStoreError(error: unknown, store: string): QavrError {
  if (QavrError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new QavrError("STORE_FAILED", `The ${store} store failed: ${reason}`, { cause: error, details: { store } });
}

/** True for a failure of the store itself, and not of a call that it refused or a state that cannot be read. */
export function isOutOfReach(error: QavrError): boolean {
  return OUT_OF_REACH.includes(error.code);
}

/** True when the same write may succeed once the store is reached again, or repaired. */
export function isWorthKeeping(error: QavrError): boolean {
  return isOutOfReach(error) || error.code === "STORE_CORRUPT";
}
