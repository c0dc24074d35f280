import type { Store } from "@qavr/core";
import { type Measurement, type MeasureOptions, measureInterleaved } from "../speed/measure.js";
import { buildVectorIndex } from "../speed/vector-index.js";
import { createHistory, HISTORY, historyIndex } from "./history.js";

/** Cost of an outcome of the engine on one store. */
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
      history: await createHistory(index, store),
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
  return histories.map(({ history: { counted } }, place) => ({
    states: counted.states / counted.outcomes,
    bytes: counted.bytes / counted.outcomes,
    measurement: measurements[place] as Measurement,
  }));
}
