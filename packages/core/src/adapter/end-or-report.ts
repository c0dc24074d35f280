import type { EndOptions, Engine, OutcomeInput, OutcomeReceipt } from "../engine/types.js";
import { QavrError } from "../errors/qavr-error.js";

/**
 * Ends an open episode. One that was quiet for longer than open episodes are kept is recorded already, and takes the outcome
 * as a report.
 *
 * @throws UNKNOWN_EPISODE for one that is not open when there is no outcome to report, and the engine's codes
 */
export async function endOrReport(
  engine: Engine,
  episode: string,
  outcome: OutcomeInput | undefined,
  options: EndOptions & { readonly namespace: string },
): Promise<OutcomeReceipt | undefined> {
  try {
    return await engine.end(episode, outcome, options);
  } catch (error) {
    if (!outcome || !QavrError.isInstance(error, "UNKNOWN_EPISODE")) throw error;
    return engine.report(episode, outcome, { namespace: options.namespace });
  }
}
