import { ignored } from "../engine/outcomes.js";
import type { Engine, OutcomeInput, OutcomeReceipt } from "../engine/types.js";
import { QavrError } from "../errors/qavr-error.js";

/**
 * Reports on a run by its id. About one that is known to have been shown no memory there is nothing to record, and nothing to refuse:
 * an application that asks for feedback after every run need not know which ones retrieved. An outcome that names memories says
 * otherwise, and stays refused.
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
    const named = [outcome.helpful, outcome.harmful, outcome.used].some((memories) => memories && memories.length > 0);
    if (run.isUnshown && !named && QavrError.isInstance(error, "UNKNOWN_EPISODE")) return ignored(reference);
    throw error;
  }
}
