import { createEngine, memoryStore } from "@qavr/core";
import { loadDataset, seededRandom, shuffle, uniformAt } from "@qavr/lab";
import { type LocalMemories, localMemories } from "@qavr/local";
import { countedIds } from "./arm.js";

/** Held-out success over one collection of own memories. */
export interface OwnMemoriesResult {
  readonly seed: number;
  /** Mean chance of success on held-out requests in the collection's own order. */
  readonly host: number;
  /** The same in the learned order. */
  readonly learned: number;
}

/** Settings of {@link learnOwnMemories}. */
export interface OwnMemoriesPlan {
  readonly runs: number;
  /** Notes of each need, of which the first `good` help. */
  readonly notes: number;
  readonly good: number;
  /** Notes that are shown, and candidates among which they are chosen. */
  readonly shown: number;
  readonly candidates: number;
  /** Chance of success with a helpful note of the request's need, and without one. */
  readonly helped: number;
  readonly alone: number;
}

export const OWN_MEMORIES: OwnMemoriesPlan = {
  runs: 2_000,
  notes: 5,
  good: 2,
  shown: 3,
  candidates: 20,
  helped: 0.9,
  alone: 0.15,
};

/** Requests of a need that are kept for judging. */
const HELD_OUT = 10;
/** Requests of a need in the stream. */
const STREAM = 40;

/**
 * Closes the loop on a collection that searches by words: banking77's questions are notes and requests, two notes of each need help, and
 * each run teaches by one bit.
 */
export async function learnOwnMemories(seed: number, plan: OwnMemoriesPlan = OWN_MEMORIES): Promise<OwnMemoriesResult> {
  const random = seededRandom(seed);
  const { texts } = await loadDataset("banking77");
  const byNeed = Map.groupBy(shuffle([...texts], random), ({ needs }) => needs[0] as number);
  const notes: { readonly id: string; readonly text: string }[] = [];
  const helps = new Map<string, number>();
  const [stream, held]: { text: string; need: number }[][] = [[], []];
  for (const [need, all] of byNeed) {
    for (const [i, { text }] of all.slice(0, plan.notes).entries()) {
      notes.push({ id: `${need}/${i}`, text });
      if (i < plan.good) helps.set(`${need}/${i}`, need);
    }
    const others = all.slice(plan.notes).map(({ text }) => ({ text, need }));
    stream?.push(...others.slice(0, STREAM));
    held?.push(...others.slice(STREAM, STREAM + HELD_OUT));
  }
  shuffle(stream ?? [], random);
  const memories = localMemories({ path: ":memory:" });
  await memories.add(notes);
  const engine = createEngine({ store: memoryStore(), createId: countedIds(seed) });
  const chance = (ids: readonly string[], need: number): number =>
    ids.some((id) => helps.get(id) === need) ? plan.helped : plan.alone;

  for (const [run, { text, need }] of (stream ?? []).slice(0, plan.runs).entries()) {
    const candidates = await memories.search({ text, limit: plan.candidates });
    if (candidates.length === 0) continue;
    const { episode, items } = await engine.rank({ text, candidates, topK: plan.shown });
    const succeeds =
      uniformAt(seed, run) <
      chance(
        items.map(({ id }) => id),
        need,
      );
    await engine.end(episode, { tier: "verified", reward: succeeds });
  }
  const judged = await Promise.all((held ?? []).map((request) => judge(memories, engine, request, plan, chance)));
  const mean = (key: "host" | "learned"): number => judged.reduce((sum, one) => sum + one[key], 0) / judged.length;
  await memories.close();
  return { seed, host: mean("host"), learned: mean("learned") };
}

async function judge(
  memories: LocalMemories,
  engine: ReturnType<typeof createEngine>,
  { text, need }: { readonly text: string; readonly need: number },
  { candidates: limit, shown }: OwnMemoriesPlan,
  chance: (ids: readonly string[], need: number) => number,
): Promise<{ readonly host: number; readonly learned: number }> {
  const candidates = await memories.search({ text, limit });
  const { items } = await engine.rank({ text, candidates, topK: shown, record: false });
  const ids = (list: readonly { readonly id: string }[]): string[] => list.slice(0, shown).map(({ id }) => id);
  return { host: chance(ids(candidates), need), learned: chance(ids(items), need) };
}
