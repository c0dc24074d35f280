import { quoted } from "../errors/printed.js";
import { QavrError } from "../errors/qavr-error.js";

/**
 * Refuses an option of an adapter. Of what is no text or number only the type is told: it may be a client, or hold a key.
 *
 * @param says What it must be, as in `k must be a whole number of at least 1`.
 * @throws INVALID_ARGUMENT always
 */
export function refuseOption(option: string, says: string, value: unknown): never {
  const isShown = typeof value === "number" || typeof value === "string" || value === null;
  const received = isShown ? String(value) : typeof value;
  throw new QavrError("INVALID_ARGUMENT", `${says}. Received ${isShown ? quoted(value) : received}.`, {
    details: { option, received },
  });
}
