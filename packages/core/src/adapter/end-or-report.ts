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
 * Ends an open episode with what a judge said of it. A verdict that is refused gives way to `fallback`, and one that is refused too to
 * no outcome at all: what was shown is recorded all the same.
 *
 * @throws the first refusal, once the end is recorded, and what {@link endOrReport} throws
 */
export async function endJudged(
  engine: Engine,
  episode: string,
  { verdict, fallback }: { readonly verdict: OutcomeInput | undefined; readonly fallback: OutcomeInput | undefined },
  options: EndOptions & { readonly namespace: string },
): Promise<void> {
  const refusals: QavrError[] = [];
  for (const said of new Set([verdict, fallback, undefined])) {
    try {
      await endOrReport(engine, episode, said, options);
      break;
    } catch (error) {
      // What was shown is recorded already.
      if (!said && refusals.length > 0 && QavrError.isInstance(error, "UNKNOWN_EPISODE")) break;
      if (!said || !isRefusal(error)) throw error;
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

function isRefusal(error: unknown): error is QavrError {
  return QavrError.isInstance(error) && REFUSALS.includes(error.code);
}
