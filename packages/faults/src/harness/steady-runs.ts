import type { Engine, OutcomeReceipt } from "@qavr/core";

const SHOWN = 4;
const MEMORIES = 200;
const SOURCES = 5;
/** The source whose outcomes are revoked. */
export const REVOKED = "source-0";

/** Ranks for a run of a stream that several processes write; `<name>-<run>` is its alias. Returns its episode. */
export async function rankSteadyRun(engine: Engine, name: string, run: number): Promise<string> {
  const candidates = Array.from({ length: 12 }, (_, i) => ({
    id: `m${(run * 7 + i * 13) % MEMORIES}`,
    similarity: 0.9 - i / 40,
  }));
  const vector = Array.from({ length: 16 }, (_, i) => Math.sin((run % 17) + i));
  const { episode } = await engine.rank({ candidates, topK: SHOWN, vector, aliases: [`${name}-${run}`] });
  return episode;
}

/** Ends such a run; the same run has the same outcome. @throws what `engine.end` throws */
export async function endSteadyRun(engine: Engine, episode: string, run: number): Promise<OutcomeReceipt> {
  const receipt = await engine.end(episode, {
    reward: run % 3 !== 0,
    source: `source-${run % SOURCES}`,
    tier: "user",
  });
  return receipt as OutcomeReceipt;
}
