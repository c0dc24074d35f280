import type { EndOptions, Engine, OutcomeInput, OutcomeReceipt } from "../engine/types.js";
import { type ErrorCode, QavrError } from "../errors/qavr-error.js";

/** What is wrong with an outcome itself: it would be refused again. */
const REFUSALS: readonly ErrorCode[] = [
  "NOT_SHOWN",
  "INVALID_REWARD",
  "INVALID_ARGUMENT",
  "INVALID_ID",
  "LIMIT_EXCEEDED",
];

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

/**
 * Ends an open episode with what a judge said of it. A verdict that is refused gives way to `fallback`: what was shown is recorded all
 * the same.
 *
 * @throws the refusal, once the fallback is recorded, and what {@link endOrReport} throws
 */
export async function endJudged(
  engine: Engine,
  episode: string,
  { verdict, fallback }: { readonly verdict: OutcomeInput | undefined; readonly fallback: OutcomeInput | undefined },
  options: EndOptions & { readonly namespace: string },
): Promise<void> {
  try {
    await endOrReport(engine, episode, verdict, options);
  } catch (error) {
    if (verdict && QavrError.isInstance(error) && REFUSALS.includes(error.code)) {
      await endOrReport(engine, episode, fallback, options);
    }
    throw error;
  }
}
