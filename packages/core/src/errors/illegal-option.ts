import { QavrError } from "./qavr-error.js";

/**
 * The refusal of an illegal option or argument.
 *
 * @param says What it must be, as in `topK must be a whole number of at least 0`.
 */
export function illegalOption(option: string, says: string, received: unknown): QavrError {
  return new QavrError("INVALID_ARGUMENT", `${says}. Received ${quoted(received)}.`, {
    details: { option, received: printed(received) },
  });
}

/** A value from outside inside a sentence: a text in quotes and on one line, since `"4"` is no number. */
export function quoted(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(printed(value)) : printed(value);
}

/**
 * A value from outside as a message may repeat it. Of an object or function only its type: it may be a client, or hold a key. Of several
 * words or more than 80 characters nothing: they may be a memory or a request.
 */
export function printed(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  const text = (typeof value === "object" && value) || typeof value === "function" ? typeof value : String(value);
  return /\s|.{81}/.test(text) ? "a text" : text;
}
