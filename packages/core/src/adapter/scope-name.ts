import { QavrError } from "../errors/qavr-error.js";
import { assertName } from "../store/validate.js";

/**
 * What an application names as the namespace or context of a run; `default` when it names none.
 *
 * @throws INVALID_ARGUMENT for anything else than a string that is not empty, INVALID_ID or LIMIT_EXCEEDED for a string that no ledger
 * can keep: falling back to a shared namespace would mix what must stay apart.
 */
export function scopeName(what: "namespace" | "context", named: unknown): string {
  if (named === undefined || named === null) return "default";
  if (typeof named === "string" && named !== "") {
    assertName(named, what);
    return named;
  }
  throw new QavrError(
    "INVALID_ARGUMENT",
    `The ${what} of a run must be a string that is not empty. Received ${typeof named}.`,
    { details: { what, received: typeof named } },
  );
}
