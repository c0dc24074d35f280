import type { Store } from "@qavr/core";
import type { ReadOptions } from "@qavr/core/store";
import { type Random, seededRandom } from "@qavr/lab";
import type { Measured } from "../speed/measure.js";
import { distinct, MEMORY_SCOPE, memoryId, noise, OUTCOME } from "./outcome-workload.js";

/** States that a ranking reads at once. */
export const READ_STATES = 50;
/** Memories in the namespace that is read: they fit every cache. */
export const READ_MEMORIES = 10_000;
export const READ_NAMESPACE = "read";
const SEED = 41;
/** States of one commit that fills a namespace. */
const FILL = 5_000;

/** Writes states of so many memories. */
export async function fillMemories(
  store: Store,
  namespace: string,
  memories: number,
  onProgress?: (share: number) => void,
): Promise<void> {
  const bytes = noise(seededRandom(SEED));
  for (let first = 0; first < memories; first += FILL) {
    const places = Array.from({ length: Math.min(FILL, memories - first) }, (_, i) => first + i);
    const entry = { key: `fill ${first}`, type: "fill", at: 0, payload: new Uint8Array() };
    const states = places.map((place) => ({ scope: MEMORY_SCOPE, id: memoryId(place), value: bytes(OUTCOME.memory) }));
    await store.commit(namespace, [entry], function* () {
      yield [];
      return states;
    });
    onProgress?.(Math.min(1, (first + FILL) / memories));
  }
}

/** Reads of fifty states, drawn evenly; the same ones for every part and turn. */
export function readPart(name: string, store: Store, options: ReadOptions = {}): Measured {
  const random: Random = seededRandom(SEED);
  const requests = new Map<number, readonly string[]>();
  const idsOf = (query: number): readonly string[] => {
    const known = requests.get(query) ?? distinct(READ_STATES, READ_MEMORIES, random).map(memoryId);
    requests.set(query, known);
    return known;
  };
  return {
    name,
    prepare: (query) => idsOf(query),
    run: (_, ids) => store.readStates(READ_NAMESPACE, MEMORY_SCOPE, ids as readonly string[], options),
  };
}
