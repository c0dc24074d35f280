import { MAX_LABEL } from "../engine/check.js";
import { isThenable } from "../errors/field-rules.js";
import { QavrError } from "../errors/qavr-error.js";
import { storableId } from "./outcome.js";

/**
 * A group from a memory's metadata: text that is not empty, or a number; undefined for anything else. One that a ledger cannot keep, such
 * as a long address, is hashed.
 *
 * @param key undefined: no groups
 */
export function groupIn(metadata: object | undefined, key: string | undefined): string | undefined {
  const group = key === undefined ? undefined : (metadata as Readonly<Record<string, unknown>> | undefined)?.[key];
  return (typeof group === "string" && group !== "") || typeof group === "number"
    ? storableId(String(group))
    : undefined;
}

/**
 * The answer of an application's `label` function as a label of the engine: one line of at most 80 characters, longer ones cut.
 *
 * @throws INVALID_ARGUMENT for an answer that is neither text nor absent, such as a promise
 */
export function toLabel(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer !== "string") {
    const received = isThenable(answer) ? "a promise" : typeof answer;
    throw new QavrError("INVALID_ARGUMENT", `label must return text, or undefined for none. Received ${received}.`);
  }
  const line = answer.toWellFormed().replace(/\s+/g, " ").trim();
  if (line.length <= MAX_LABEL) return line;
  // Not through the middle of a surrogate pair.
  return `${line.slice(0, MAX_LABEL - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
