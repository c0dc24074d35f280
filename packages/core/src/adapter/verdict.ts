import type { OutcomeInput } from "../engine/types.js";
import { QavrError } from "../errors/qavr-error.js";
import { type Outcome, toOutcomeInput } from "./outcome.js";

/**
 * What a judge says of a finished run: true, false, a reward in [0, 1], a whole outcome with votes, or null and undefined for
 * "I cannot tell". Of a run that failed, null and undefined leave the failure that was seen; `{ reward: null }` is a verdict:
 * nobody knows.
 */
export type Verdict = boolean | number | Outcome | null | undefined;

/**
 * A verdict as evidence; undefined when it says nothing.
 *
 * @param storable As for `toOutcomeInput`.
 * @param tier How good the evidence is, where the verdict does not say so itself.
 * @throws INVALID_REWARD for a number outside [0, 1], INVALID_ARGUMENT for what is no verdict at all, and what `toOutcomeInput` throws
 */
export function fromVerdict(
  verdict: Verdict,
  storable: (name: string) => string,
  tier: NonNullable<OutcomeInput["tier"]> = "verified",
): OutcomeInput | undefined {
  if (verdict === null || verdict === undefined) return undefined;
  if (typeof verdict === "boolean") return { reward: verdict, tier };
  if (typeof verdict === "number") {
    if (!(verdict >= 0 && verdict <= 1)) {
      throw new QavrError("INVALID_REWARD", `A verdict that is a number lies in [0, 1]. Received ${verdict}.`);
    }
    return { reward: verdict, tier };
  }
  if (typeof verdict !== "object") {
    throw new QavrError(
      "INVALID_ARGUMENT",
      `A verdict is true, false, a number in [0, 1], an outcome such as { success: true }, or null. Received a ${typeof verdict}.`,
    );
  }
  return toOutcomeInput(verdict, storable, { tier });
}
