import { createEngine, type Store } from "@qavr/core";
import { seededRandom } from "../../../core/test/support/random.js";
import { START } from "./ledgers.js";

export interface LargeLedger {
  readonly memories: number;
  readonly runs: number;
}

/** Memories that each request finds, and those that it shows. */
const FOUND = 8;
const SHOWN = 3;
const DIMS = 32;
/** Runs that end together, so that they share commits. */
const TOGETHER = 200;

/**
 * Runs an application with many memories. Each has its own worth, from always harmful to always helpful; each request finds a few
 * neighbours of one place, and some places are asked for more than others. The store stays open.
 */
export async function fillLarge(store: Store, { memories, runs }: LargeLedger): Promise<void> {
  let ids = 0;
  let now = START;
  const engine = createEngine({
    store,
    clock: () => (now += 100),
    createId: () => `run-${++ids}`,
    writeTimeout: 600_000,
  });
  const { next: random } = seededRandom(7);
  for (let done = 0; done < runs; done += TOGETHER) {
    await Promise.all(
      Array.from({ length: Math.min(TOGETHER, runs - done) }, async () => {
        const place = Math.floor(random() ** 2 * memories);
        const candidates = Array.from({ length: FOUND }, (_, i) => ({
          id: `memory-${String((place + i * 13) % memories).padStart(6, "0")}`,
          similarity: 0.9 - i * 0.02,
        }));
        const turn = (2 * Math.PI * place) / memories;
        const vector = Array.from({ length: DIMS }, (_, i) => Math.cos(turn * (1 + (i % 5)) + i));
        const { episode, items } = await engine.rank({ vector, candidates, topK: SHOWN });
        const worth = items.reduce((sum, { id }) => sum + worthOf(id), 0) / items.length;
        await engine.end(episode, { reward: random() < worth, tier: "verified", source: "checker" });
      }),
    );
  }
  await engine.flush();
}

/** In [0, 1], by the last digits of the id. */
function worthOf(id: string): number {
  return ((Number(id.slice(-6)) * 7_919) % 101) / 100;
}
