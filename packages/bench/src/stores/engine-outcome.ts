import type { Learner, Store } from "@qavr/core";
import { oar } from "@qavr/core/learners";
import { createHistory, HISTORY, historyIndex } from "../cost/history.js";
import { total } from "../cost/outcome-writes.js";
import { type Measurement, type MeasureOptions, measureInterleaved } from "../speed/measure.js";
import { buildVectorIndex } from "../speed/vector-index.js";

/** What an outcome costs the engine on one store. */
export interface EngineOutcome {
  /** Means per outcome: states that its reduction writes, and their bytes. */
  readonly states: number;
  readonly bytes: number;
  /** µs, durable where the store is. */
  readonly measurement: Measurement;
}

/** Length of request vectors. */
const DIMS = 256;

/**
 * Outcomes of recorded runs through the public engine, the default learner on each store, side by side after the same history.
 *
 * @param stores by name
 */
export async function measureEngineOutcomes(
  stores: Readonly<Record<string, Store>>,
  options: MeasureOptions,
): Promise<readonly EngineOutcome[]> {
  const index = buildVectorIndex(historyIndex(HISTORY, DIMS));
  const histories = await Promise.all(
    Object.entries(stores).map(async ([name, store]) => ({
      name,
      history: await createHistory(index, store, oar() as unknown as Learner),
    })),
  );
  const measurements = await measureInterleaved(
    histories.map(({ name, history }) => ({
      name,
      prepare: () => history.open(),
      run: (_, episode) => history.teach(episode as string),
    })),
    options,
  );
  return histories.map(({ history: { counted } }, place) => {
    const { states, bytes } = total(counted);
    return {
      states: states / counted.outcomes,
      bytes: bytes / counted.outcomes,
      measurement: measurements[place] as Measurement,
    };
  });
}
