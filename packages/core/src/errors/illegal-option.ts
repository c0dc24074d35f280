import { printed, quoted } from "./printed.js";
import { QavrError } from "./qavr-error.js";

/**
 * The refusal of an option or argument that is not what it must be.
 *
 * @param says What it must be, as in `topK must be a whole number of at least 0`.
 */
export function illegalOption(option: string, says: string, received: unknown): QavrError {
  return new QavrError("INVALID_ARGUMENT", `${says}. Received ${quoted(received)}.`, {
    details: { option, received: printed(received) },
  });
}
