import { createEngine, type Engine, memoryStore } from "@qavr/core";
import { forget, revise } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../core/test/support/random.js";
import type { Finding } from "../src/reports/finding.js";
import { harmfulMemories, type MemoryOfCollection } from "../src/reports/harmful-memories.js";

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed + 1);

async function memoriesOf(engine: Engine, collection: string): Promise<MemoryOfCollection[]> {
  return (await engine.memories({ collection })).memories.map((memory) => ({ ...memory, collection }));
}

/**
 * 300 runs over 20 memories, three shown, a quarter of them in the host's order, where `bad` comes early; odd runs ask for something hard.
 * Success falls to a tenth where `bad` is among those shown.
 *
 * @param times Retrievals of a run.
 */
async function examined(
  seed: number,
  bad?: string,
  more?: (engine: Engine) => Promise<unknown>,
  times = 1,
): Promise<Finding | undefined> {
  const { next: random } = seededRandom(seed * 7919);
  let ids = 0;
  const engine = createEngine({ store: memoryStore(), holdout: 0.25, createId: () => `run-${seed}-${ids++}` });
  for (let run = 0; run < 300; run++) {
    const hard = run % 2 === 1;
    const candidates = Array.from({ length: 10 }, (_, i) => ({
      id: `m${i + (hard ? 10 : 0)}`,
      similarity: random() + (i === 3 ? 0.5 : 0),
    })).sort((a, b) => b.similarity - a.similarity);
    const request = { vector: hard ? [0, 1] : [1, 0], candidates, topK: 3 };
    const { episode, items } = await engine.rank(request);
    for (let again = 1; again < times; again++) await engine.rank({ ...request, episode });
    const chance = (hard ? 0.4 : 0.8) * (items.some(({ id }) => id === bad) ? 0.1 : 1);
    await engine.end(episode, { reward: random() < chance, tier: "verified" });
  }
  await more?.(engine);
  const { events } = await engine.history({ limit: 1_000 });
  const memories = await memoriesOf(engine, "default");
  await engine.close();
  return harmfulMemories({ events, memories });
}

/** 400 runs of six kinds of request, each as hard as its number says, which find memories of each other: none of the thirty changes anything. */
async function ofSixKinds(seed: number): Promise<Finding | undefined> {
  const { next: random } = seededRandom(seed * 7919);
  const vector = (near: readonly number[] = [0, 0, 0, 0, 0, 0], spread = 1): number[] => {
    const moved = near.map((x) => x + spread * (random() + random() + random() - 1.5));
    return moved.map((x) => x / Math.hypot(...moved));
  };
  const chances = [0.8, 0.3, 0.6, 0.5, 0.9, 0.2];
  const kinds = chances.map(() => vector());
  const memories = kinds.flatMap((kind) => Array.from({ length: 5 }, () => vector(kind, 0.4)));
  let ids = 0;
  const engine = createEngine({ store: memoryStore(), createId: () => `run-${seed}-${ids++}` });
  for (let run = 0; run < 400; run++) {
    const kind = Math.floor(6 * random());
    const request = vector(kinds[kind], 0.3);
    const candidates = memories
      .map((memory, i) => ({
        id: `m${i}`,
        similarity: memory.reduce((sum, x, dim) => sum + x * (request[dim] as number), 0),
      }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, 15);
    const { episode } = await engine.rank({ vector: request, candidates, topK: 5 });
    await engine.end(episode, { reward: random() < (chances[kind] as number), tier: "verified" });
  }
  const { events } = await engine.history({ limit: 1_000 });
  const found = harmfulMemories({ events, memories: await memoriesOf(engine, "default") });
  await engine.close();
  return found;
}

describe("harmful memories", () => {
  it("are named with their numbers, and a way to look at them", async () => {
    const found = await Promise.all(SEEDS.map((seed) => examined(seed, "m3")));
    const right = found.filter((finding) => finding?.finding.includes("m3:"));
    expect(right.length).toBeGreaterThanOrEqual(0.9 * SEEDS.length);
    expect(right[0]?.finding).toMatch(/m3: \d+ of \d+ runs succeeded, \d+ were expected/);
    expect(right[0]?.fix).toContain("npx qavr why m3");
  });

  it("are not those that were unlucky, or that hard requests find: in at most one world of twenty", async () => {
    const found = await Promise.all(SEEDS.map((seed) => examined(seed)));
    expect(found.filter((finding) => finding !== undefined).length).toBeLessThanOrEqual(SEEDS.length / 20);
  });

  it("are not those that hard requests find beside memories of easier ones", async () => {
    const found = await Promise.all(SEEDS.slice(0, 20).map((seed) => ofSixKinds(seed)));
    expect(found.filter((finding) => finding !== undefined).length).toBeLessThanOrEqual(1);
  });

  it("are not those of runs that retrieve often, and each run counts once", async () => {
    const often = (seed: number, bad?: string) => examined(seed, bad, undefined, 5);
    const found = await Promise.all(SEEDS.slice(0, 5).map((seed) => often(seed)));
    expect(found.filter((finding) => finding !== undefined)).toEqual([]);
    expect((await often(1, "m3"))?.finding).toMatch(/m3: \d+ of \d\d runs succeeded/);
  });

  it.each([
    ["forgotten", forget],
    ["corrected", revise],
  ])("are not those that were %s since, as the advice says", async (_, mended) => {
    const mends = (engine: Engine) => mended(engine, { namespace: "default", collection: "default", ids: ["m3"] });
    for (const seed of SEEDS.slice(0, 4)) {
      expect((await examined(seed, "m3"))?.finding).toContain("m3:");
      expect((await examined(seed, "m3", mends))?.finding ?? "").not.toContain("m3:");
    }
  });

  it("are those that votes call harmful, but not after three votes", async () => {
    const voted = (times: number) => async (engine: Engine) => {
      for (let vote = 0; vote < times; vote++) {
        const { episode } = await engine.rank({ candidates: [{ id: "it's wrong", similarity: 1 }], topK: 1 });
        await engine.end(episode, { harmful: ["it's wrong"] });
      }
    };
    expect((await examined(1, undefined, voted(3)))?.finding ?? "").not.toContain("wrong");
    const found = await examined(1, undefined, voted(5));
    expect(found?.finding).toContain("it's wrong: 5 of 5 votes call it harmful");
    expect(found?.fix).toContain("npx qavr why 'it'\\''s wrong'.");
  });

  it("are told from those of the same id in another collection", async () => {
    const engine = createEngine({ store: memoryStore() });
    for (const [collection, votes] of [
      ["notes", 5],
      ["tools", 6],
    ] as const) {
      for (let vote = 0; vote < votes; vote++) {
        const { episode } = await engine.rank({ collection, candidates: [{ id: "deploy", similarity: 1 }], topK: 1 });
        await engine.end(episode, { harmful: ["deploy"] });
      }
    }
    const memories = [...(await memoriesOf(engine, "notes")), ...(await memoriesOf(engine, "tools"))];
    const found = harmfulMemories({ events: [], memories });
    expect(found?.finding).toContain(
      "deploy of collection notes: 5 of 5 votes call it harmful; deploy of collection tools: 6 of 6 votes",
    );
    expect(found?.fix).toContain("npx qavr why --collection notes deploy.");
  });

  it("are named such that a shell and the command line take their ids, also one that begins like an option", () => {
    const memory = { id: "-v1", collection: "c", helpful: 0, harmful: 9 } as MemoryOfCollection;
    expect(harmfulMemories({ events: [], memories: [memory] })?.fix).toContain("npx qavr why -- -v1.");
  });
});
