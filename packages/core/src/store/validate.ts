import { illegalOption, printed, quoted } from "../errors/illegal-option.js";
import { QavrError } from "../errors/qavr-error.js";
import { type LedgerEntry, STORE_LIMITS, type StateWrite } from "./store.js";

/**
 * Refuses a name that stores could confuse with another: empty, too long, or with lone surrogates (which have no UTF-8 form,
 * so that two different ones would become one). Anything else is legal: NUL, `%`, `_`, look-alikes.
 *
 * @param limit in UTF-16 units; {@link STORE_LIMITS}.nameLength by default
 * @throws INVALID_ID, or LIMIT_EXCEEDED beyond the limit.
 */
export function assertName(
  name: unknown,
  what: string,
  limit: number = STORE_LIMITS.nameLength,
): asserts name is string {
  if (typeof name !== "string" || name.length === 0) {
    throw new QavrError("INVALID_ID", `The ${what} must be a string that is not empty. Received ${quoted(name)}.`, {
      details: { what, received: printed(name) },
    });
  }
  if (name.length > limit) {
    throw new QavrError(
      "LIMIT_EXCEEDED",
      `The ${what} has ${name.length} characters; at most ${limit} are kept. Shorten or hash it.`,
      { details: { what, length: name.length, limit } },
    );
  }
  if (!name.isWellFormed()) {
    throw new QavrError("INVALID_ID", `The ${what} holds a lone surrogate. Use well-formed Unicode.`, {
      details: { what },
    });
  }
}

/** A time without the sign of zero. Databases lose the sign, which would change the digest of an entry that is read back. */
export function withoutNegativeZero(at: number): number {
  return at + 0;
}

/** @throws INVALID_ID, INVALID_ARGUMENT, LIMIT_EXCEEDED */
export function assertEntry(entry: LedgerEntry): void {
  assertName(entry.key, "idempotency key");
  assertName(entry.type, "entry type");
  if (!Number.isFinite(entry.at)) {
    throw illegalOption("at", `The time of entry ${entry.key} must be a finite number of ms`, entry.at);
  }
  assertBytes(entry.payload, `payload of entry ${entry.key}`);
}

/** @throws INVALID_ID, INVALID_ARGUMENT, LIMIT_EXCEEDED */
export function assertState({ scope, id, value }: StateWrite): void {
  assertName(scope, "state scope");
  assertName(id, "state id");
  if (value !== null) assertBytes(value, `state ${id}`);
}

/**
 * Refuses a value that is no `Uint8Array`, before it can fail a transaction that other commits share.
 *
 * @throws INVALID_ARGUMENT, LIMIT_EXCEEDED
 */
export function assertBytes(bytes: unknown, what: string): asserts bytes is Uint8Array {
  if (!isBytes(bytes)) {
    throw illegalOption(what, `The ${what} must be a Uint8Array`, bytes);
  }
  if (bytes.length > STORE_LIMITS.payloadBytes) {
    throw new QavrError(
      "LIMIT_EXCEEDED",
      `The ${what} has ${bytes.length} bytes; at most ${STORE_LIMITS.payloadBytes} are kept.`,
      { details: { what, bytes: bytes.length, limit: STORE_LIMITS.payloadBytes } },
    );
  }
}

/** @throws INVALID_ARGUMENT, LIMIT_EXCEEDED */
export function assertLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1) {
    throw illegalOption("limit", "A page's limit must be a whole number above 0", limit);
  }
  assertBatch(limit, "page");
}

/** @throws LIMIT_EXCEEDED */
export function assertBatch(size: number, what: string): void {
  if (size > STORE_LIMITS.batch) {
    throw new QavrError("LIMIT_EXCEEDED", `A ${what} of ${size} is larger than ${STORE_LIMITS.batch}. Split it.`, {
      details: { what, size, limit: STORE_LIMITS.batch },
    });
  }
}

/** Byte equality. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** True also for a `Uint8Array` of another realm, such as a test runner's. */
function isBytes(value: unknown): value is Uint8Array {
  return (
    value instanceof Uint8Array ||
    (ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]")
  );
}

/** Databases keep names as UTF-8 bytes: their text types lose a NUL or refuse it, or compare by a collation. A byte order mark is part of the name. */
const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A name as the bytes that a database keeps. It must be well-formed, see {@link assertName}. */
export function nameToBytes(name: string): Uint8Array {
  return encoder.encode(name);
}

/** The order of names by their UTF-8 bytes, which is that of their code points: negative when `a` comes first. */
export function compareNames(a: string, b: string): number {
  for (let i = 0; ; i++) {
    const difference = (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1);
    if (difference !== 0 || i >= a.length) return difference;
  }
}

/** @throws TypeError for bytes that are no UTF-8: the row is damaged. */
export function bytesToName(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
