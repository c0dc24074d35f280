import type { LedgerEntry, Reduce, SequencedEntry, StateRef } from "@qavr/core/store";
import { type Random, seededRandom } from "@qavr/lab";

/** Bytes that one outcome reads and writes: the default learner with requests of 256 values. */
export const OUTCOME = {
  payload: 800,
  /** Memories that the run was shown, and the state of each. */
  shown: 5,
  memory: 1_080,
  episode: 867,
  /** The collection's state and the counts, which every outcome touches. */
  collection: 1_161,
  stats: 1_160,
} as const;

/** Bytes of one outcome, entry and states. */
export const OUTCOME_BYTES: number =
  OUTCOME.payload + OUTCOME.shown * OUTCOME.memory + OUTCOME.episode + OUTCOME.collection + OUTCOME.stats;

/** Scope of the memories' states. */
export const MEMORY_SCOPE = "memory:docs";

/** Name of a memory, about as long as real ids are. */
export function memoryId(place: number): string {
  return `memory-${String(place).padStart(8, "0")}-k3j4h5g6`;
}

/** Outcomes that look like an engine's to a store. */
export interface OutcomeWorkload {
  /** The next `count` entries, each with a key of its own. */
  entries(count: number): LedgerEntry[];
  readonly reduce: Reduce;
}

/**
 * Outcomes of one client over `memories` memories, drawn evenly. Bytes are noise, which nothing can compress.
 *
 * @param client for keys that no other client uses
 */
export function outcomeWorkload(client: string, memories: number, seed: number): OutcomeWorkload {
  const random = seededRandom(seed);
  const block = noiseBlock(random);
  const bytes = noiseIn(block, random);
  let count = 0;
  return {
    entries: (wanted) =>
      Array.from({ length: wanted }, () => ({
        key: `outcome:${client}:${count++}`,
        type: "outcome",
        at: 1_700_000_000_000 + count,
        payload: bytes(OUTCOME.payload),
      })),
    *reduce({ key }: SequencedEntry) {
      // The same for the same entry, however often a store asks.
      const own = seededRandom(hashOf(key));
      const piece = noiseIn(block, own);
      const sized: (StateRef & { readonly size: number })[] = [
        { scope: "stats", id: "stats", size: OUTCOME.stats },
        { scope: "episode", id: key, size: OUTCOME.episode },
        { scope: "shared", id: "docs", size: OUTCOME.collection },
      ];
      for (const place of distinct(OUTCOME.shown, memories, own)) {
        sized.push({ scope: MEMORY_SCOPE, id: memoryId(place), size: OUTCOME.memory });
      }
      yield sized;
      return sized.map(({ scope, id, size }) => ({ scope, id, value: piece(size) }));
    },
  };
}

function hashOf(text: string): number {
  let hash = 0;
  for (const unit of text) hash = Math.imul(hash, 31) + unit.charCodeAt(0);
  return hash;
}

/** `count` different places below `size`. */
export function distinct(count: number, size: number, random: Random): number[] {
  const places = new Set<number>();
  while (places.size < Math.min(count, size)) places.add(Math.floor(random() * size));
  return [...places];
}

const NOISE_BYTES = 1 << 16;

function noiseBlock(random: Random): Uint8Array {
  return Uint8Array.from({ length: NOISE_BYTES }, () => Math.floor(random() * 256));
}

function noiseIn(block: Uint8Array, random: Random): (size: number) => Uint8Array {
  return (size) => {
    const start = Math.floor(random() * (NOISE_BYTES - size));
    return block.slice(start, start + size);
  };
}

/** Gives pieces of a block of noise, each from another place. */
export function noise(random: Random): (size: number) => Uint8Array {
  return noiseIn(noiseBlock(random), random);
}
