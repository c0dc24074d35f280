import { isThenable } from "../errors/field-rules.js";
import type { LogFields, Logger } from "./options.js";

/** Writes one line. Errors of the logger are ignored, since a log line must not cost the caller its ranking or its run. */
export function writeLine(
  logger: Logger | undefined,
  level: keyof Logger,
  message: string,
  fields: () => LogFields,
): void {
  try {
    const written: unknown = logger?.[level]?.(message, fields());
    // A logger that writes asynchronously may reject later.
    if (isThenable(written)) written.then(undefined, () => {});
  } catch {
    // A broken logger.
  }
}
