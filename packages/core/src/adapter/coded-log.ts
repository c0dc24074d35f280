import type { LogFields, Logger } from "../engine/types.js";
import { QavrError } from "../errors/qavr-error.js";

/** What a line may carry. */
export interface LineFields {
  readonly runId?: string;
  readonly namespace?: string;
  /** What was thrown. Its message may hold anybody's text, so it is told at debug level only; see {@link createLog}. */
  readonly error?: unknown;
}

/** Writes one coded line, silently when there is no logger. */
export type Log<Code extends string> = (
  level: "warn" | "error",
  code: Code,
  message: string,
  fields?: LineFields,
) => void;

/**
 * Binds a logger; without one nothing is written, but for `unheard`. An error is told as `error`, its name, and `reason`, its code if it
 * has one; a second line of the same code at debug level has it and its cause as text. A logger that throws is ignored, since a log line must not fail a run.
 *
 * @param unheard codes that keep a memory from learning: without a logger the first line of each is a process warning
 */
export function createLog<Code extends string>(
  logger: Logger | undefined,
  unheard: readonly NoInfer<Code>[] = [],
): Log<Code> {
  if (!logger) return warnInstead(unheard);
  const write = (level: "debug" | "warn" | "error", message: string, fields: () => LogFields): void => {
    try {
      logger[level]?.(message, fields());
    } catch {
      // Nothing left to tell.
    }
  };
  return (level, code, message, { error, ...fields } = {}) => {
    write(level, message, () => ({ ...fields, ...(error === undefined ? {} : namesOf(error)), code }));
    if (error !== undefined) write("debug", message, () => ({ ...fields, error: wordsOf(error), code }));
  };
}

function warnInstead<Code extends string>(unheard: readonly Code[]): Log<Code> {
  const left = new Set(unheard);
  return (_, code, message, { error } = {}) => {
    if (left.delete(code)) processWarning(code, `${message} ${causeOf(error)}`.trim());
  };
}

/** Errors of this project say what to do; what others throw may hold anybody's text. */
function causeOf(error: unknown): string {
  if (error === undefined) return "";
  return QavrError.isInstance(error) ? error.message : `The error was of type ${namesOf(error).error}.`;
}

/** A thrown value as text, with what it says of its cause: an error of ours may stand for one of the application's. */
function wordsOf(error: unknown): string {
  const cause = QavrError.isInstance(error) ? error.cause : undefined;
  return cause === undefined ? String(error) : `${error} Cause: ${cause}`;
}

/** What may be said of a thrown value without repeating anybody's text. */
function namesOf(error: unknown): { readonly error: string; readonly reason?: string } {
  try {
    const named = typeof error === "object" && error !== null ? (error as { readonly name?: unknown }).name : undefined;
    return {
      error: typeof named === "string" ? named : typeof error,
      ...(QavrError.isInstance(error) ? { reason: error.code } : {}),
    };
  } catch {
    // Anything may be thrown, a proxy or a getter included.
    return { error: "unknown" };
  }
}

/** Tells a person who runs a program, where nobody reads a log. */
function processWarning(code: string, message: string): void {
  processOf(globalThis)?.emitWarning?.(message, { type: "QavrWarning", code });
}

/** Node's process, where there is one; this package knows no platform. */
function processOf(scope: object): ProcessShape | undefined {
  return (scope as { readonly process?: ProcessShape }).process;
}

interface ProcessShape {
  emitWarning?(message: string, options: { readonly type: string; readonly code: string }): void;
}
