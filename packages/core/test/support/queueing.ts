import type { EngineOptions } from "../../src/index.js";
import { withOutbox } from "../../src/store-kit.js";
import { type FaultyStore, faultyStore } from "./faulty-store.js";
import { type MemoryOutbox, memoryOutbox } from "./memory-outbox.js";
import { request, type TestEngine, testEngine } from "./test-engine.js";

/** An engine with an outbox before a store that fails on demand. */
export type Queueing = Omit<FaultyStore, "store"> & TestEngine & { readonly outbox: MemoryOutbox };

export function queueing(options: Partial<EngineOptions> & { readonly cap?: number } = {}): Queueing {
  const { cap, ...engineOptions } = options;
  const outbox = memoryOutbox(cap);
  const faulty = faultyStore();
  return { outbox, ...faulty, ...testEngine({ store: withOutbox(faulty.store, outbox), ...engineOptions }) };
}

/** Ends `count` runs with an outcome each. */
export async function runs({ engine }: Pick<TestEngine, "engine">, count: number): Promise<string[]> {
  const statuses: string[] = [];
  for (let run = 0; run < count; run++) {
    const { episode } = await engine.rank(request());
    const receipt = await engine.end(episode, { reward: run % 2 === 0, idempotencyKey: `run-${run}` });
    statuses.push(receipt?.status as string);
  }
  return statuses;
}
