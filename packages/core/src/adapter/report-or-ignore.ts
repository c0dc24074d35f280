import { ignored } from "../engine/outcomes.js";
import type { Engine, OutcomeInput, OutcomeReceipt } from "../engine/types.js";
import { QavrError } from "../errors/qavr-error.js";

/**
 * Reports on a run by its id. About one that is known to have been shown no memory there is nothing to record, and nothing to refuse:
 * an application that asks for feedback after every run need not know which ones retrieved. Votes say otherwise, and stay refused.
 *
 * @throws UNKNOWN_EPISODE for a run that nobody knows, and the engine's codes
 */
export async function reportOrIgnore(
  engine: Engine,
  reference: string,
  outcome: OutcomeInput,
  run: { readonly namespace: string; readonly isUnshown: boolean },
): Promise<OutcomeReceipt> {
  try {
    return await engine.report(reference, outcome, { namespace: run.namespace });
  } catch (error) {
    const votes = (outcome.helpful?.length ?? 0) + (outcome.harmful?.length ?? 0);
    if (run.isUnshown && votes === 0 && QavrError.isInstance(error, "UNKNOWN_EPISODE")) return ignored(reference);
    throw error;
  }
}
