import { type Engine, type OutcomeInput, type OutcomeReceipt, QavrError, type Ranking } from "@qavr/core";

/** Memories that a run is shown. */
export const SHOWN = 4;

/** Outcome of run `run`, the same in every process. */
export function outcomeOf(run: number): OutcomeInput {
  return { reward: run % 3 !== 0, idempotencyKey: `run-${run}` };
}

/** Ranks twenty candidates for a run; a recorded one is known to everybody as `run-<n>` from then on. */
export function rankFor(engine: Engine, run: number, recorded = true): Promise<Ranking> {
  const candidates = Array.from({ length: 20 }, (_, i) => ({ id: `m${(run + i * 3) % 60}`, similarity: 0.9 - i / 40 }));
  const request = { text: `request ${run % 17}`, candidates, topK: SHOWN };
  return engine.rank(recorded ? { ...request, aliases: [`run-${run}`] } : { ...request, record: false });
}

/** Ranks for a run and ends it. @throws what ending it throws */
export async function record(engine: Engine, run: number): Promise<OutcomeReceipt | undefined> {
  const { episode } = await rankFor(engine, run);
  return engine.end(episode, outcomeOf(run));
}

/** Reports a run's outcome once more, as a caller does who never got an answer; undefined: the ledger does not know the run. */
export async function retry(engine: Engine, run: number): Promise<OutcomeReceipt | undefined> {
  return engine.report(`run-${run}`, outcomeOf(run)).catch((error: unknown) => {
    if (QavrError.isInstance(error, "UNKNOWN_EPISODE")) return undefined;
    throw error;
  });
}
