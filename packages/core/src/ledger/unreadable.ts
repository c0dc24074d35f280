import { QavrError } from "../errors/qavr-error.js";

/** Stored bytes that mean nothing to this version. */
export function unreadable(reason: string, cause?: unknown): QavrError {
  return new QavrError(
    "INVALID_STATE",
    `Stored bytes cannot be read: ${reason}. Replay the ledger, or restore a backup.`,
    { cause },
  );
}

/** Runs a decoder that has no typed errors of its own (views, text, JSON). @throws INVALID_STATE for whatever it throws */
export function readable<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw QavrError.isInstance(error)
      ? error
      : unreadable(error instanceof Error ? error.message : String(error), error);
  }
}

/** A stored code, flag or type of entry that this version does not know. */
export function unknown(what: string, value: number | string): QavrError {
  return new QavrError("INVALID_STATE", `Stored bytes hold the unknown ${what} ${value}. Upgrade qavr.`, {
    details: { [what]: value },
  });
}

/** @throws INVALID_STATE for a layout other than the one that this version writes */
export function assertLayout(found: unknown, supported: number, what: string): void {
  if (found === supported) return;
  throw new QavrError(
    "INVALID_STATE",
    `A stored ${what} has layout ${String(found)}; this version reads ${supported}. Upgrade qavr, or call replay(engine, { write: true }).`,
    { details: { what, layout: String(found), supported } },
  );
}
