import { type OutcomeInput, QavrError } from "@qavr/core";
import type { Log } from "./log-codes.js";
import type { QavrOptions } from "./memory-options.js";
import type { SharedEngine } from "./shared-engines.js";

/** What the parts of one memory share. */
export interface Internals extends SharedEngine {
  /** False leaves Mastra to itself, whoever else learns with the engine. */
  readonly enabled: boolean;
  readonly options: QavrOptions;
  /** The collection of messages in the ledger. */
  readonly messages: string;
  readonly log: Log;
  /** What each finish reason says. */
  readonly outcomes: Readonly<Record<string, OutcomeInput | null>>;
  /** Ids of scorers that report their scores themselves; the exporter leaves those alone. */
  readonly reporting: Set<string>;
  /** True makes failures of learning reach the caller. */
  readonly throws: boolean;
}

/** `instanceof` and module state would fail across two copies of this package (ESM and CJS) in one process. */
const INTERNALS: symbol = Symbol.for("qavr.mastra.internals");

/** Hides the internals on the memory that its applications hold. */
export function attachInternals(memory: object, internals: Internals): void {
  Object.defineProperty(memory, INTERNALS, { value: internals });
}

/** @throws INVALID_ARGUMENT for anything that is no QavrMemory */
export function internalsOf(memory: unknown): Internals {
  const internals = (memory as Record<symbol, unknown> | null | undefined)?.[INTERNALS];
  if (internals) return internals as Internals;
  throw new QavrError("INVALID_ARGUMENT", "memory must be a QavrMemory.", { details: { received: typeof memory } });
}

/** Says that learning had to be left out of something. @throws the error when failures are to be thrown */
export function failOpen(
  { throws, log }: Internals,
  code: Parameters<Log>[1],
  message: string,
  fields: Parameters<Log>[3] & { readonly error: unknown },
  level: "warn" | "error" = "warn",
): void {
  if (throws) throw fields.error;
  log(level, code, message, fields);
}
