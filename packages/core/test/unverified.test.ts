import { describe, expect, it } from "vitest";
import type { Candidate, EngineOptions, OutcomeInput, RankedItem } from "../src/index.js";
import { confirmationsIn } from "../src/ledger/memory-record.js";
import { memoryScope } from "../src/ledger/state-keys.js";
import { forget, replay } from "../src/maintenance/index.js";
import { spread } from "../src/scoring/spread.js";
import { candidates, ids, oneRun, request, testEngine } from "./support/test-engine.js";

/** Ten candidates of which those named were written by an agent. */
const written = (...names: readonly string[]): Candidate[] =>
  candidates(10).map((candidate) => (names.includes(candidate.id) ? { ...candidate, unverified: true } : candidate));

const SIGMA = spread(Float64Array.from(candidates(10), ({ similarity }) => similarity));

/** Shows one memory alone and says how it went, `count` times. */
async function praise(
  { engine }: ReturnType<typeof testEngine>,
  id: string,
  count: number,
  outcome: OutcomeInput,
): Promise<string[]> {
  const episodes: string[] = [];
  for (let run = 0; run < count; run++) {
    const { episode } = await engine.rank(request({ candidates: written(id).filter((one) => one.id === id), topK: 1 }));
    await engine.end(episode, outcome);
    episodes.push(episode);
  }
  return episodes;
}

/** All that was added to a memory's similarity. */
function shiftOf(items: readonly RankedItem[], id: string): number {
  const { score, similarity } = items.find((item) => item.id === id) as RankedItem;
  return score - similarity;
}

/** Shift of a memory's similarity among all ten, and the order. */
async function judged({ engine }: ReturnType<typeof testEngine>, id: string) {
  const { items } = await engine.rank(request({ candidates: written(id), topK: 10, record: false }));
  return { shift: shiftOf(items, id), order: ids({ items }) };
}

/** How many verified successes have confirmed each memory. */
async function confirmations({ store }: ReturnType<typeof testEngine>, ...names: string[]): Promise<number[]> {
  const states = await store.readStates("default", memoryScope("default"), names);
  return states.map((bytes) => (bytes ? confirmationsIn(bytes) : 0));
}

/** Shows one memory alone, with a text if there is one, in an episode that may go on. */
async function showOne(
  { engine }: ReturnType<typeof testEngine>,
  one: { readonly id: string; readonly text?: string },
  episode?: string,
): Promise<string> {
  const candidates = [{ ...one, similarity: 1 }];
  return (await engine.rank(request({ candidates, topK: 1, ...(episode ? { episode } : {}) }))).episode;
}

const VERIFIED = { reward: true, tier: "verified" } as const;
const REFUTED = { reward: false, tier: "verified" } as const;

/** An engine on which failures of others have opened the gate. */
async function experienced(options: Partial<EngineOptions> = {}) {
  const world = testEngine(options);
  for (let run = 0; run < 40; run++) {
    const { episode, items } = await world.engine.rank(request({ keepOrder: true }));
    await world.engine.end(episode, { reward: false, tier: "verified", harmful: [items[0]?.id as string] });
    await praise(world, "d9", 1, { reward: true, tier: "verified" });
  }
  return world;
}

describe("a memory that nobody has verified", () => {
  it("gains at most a quarter of a standard deviation by any number of unverified rewards, and passes no verified one", async () => {
    const world = await experienced();
    await praise(world, "d5", 300, { reward: true, source: "agent", tier: "self-reported", helpful: ["m1"] });
    const free = await world.engine.rank(request({ topK: 10, record: false }));
    const unbounded = shiftOf(free.items, "d5");
    expect(unbounded).toBeGreaterThan(0.5 * SIGMA);
    const { shift, order } = await judged(world, "d5");
    expect(shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
    for (const rival of ["d1", "d2", "d3", "d4"]) expect(order.indexOf(rival)).toBeLessThan(order.indexOf("d5"));
  });

  it("ranks like any other from three verified successes on, and no longer when one is taken back or its text changes", async () => {
    const world = await experienced();
    await praise(world, "d5", 100, { reward: true, tier: "self-reported" });
    const episodes = await praise(world, "d5", 2, { reward: true, tier: "verified" });
    expect((await judged(world, "d5")).shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
    episodes.push(...(await praise(world, "d5", 1, { reward: true, tier: "verified" })));
    expect((await judged(world, "d5")).shift).toBeGreaterThan(0.5 * SIGMA);
    await world.engine.report(episodes[0] as string, { reward: false, tier: "verified" });
    expect((await judged(world, "d5")).shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
    await praise(world, "d5", 5, { reward: true, tier: "verified" });
    expect((await judged(world, "d5")).shift).toBeGreaterThan(0.5 * SIGMA);
    for (const text of ["as it was", "as somebody has changed it"]) {
      await oneRun(world.engine, request({ candidates: [{ id: "d5", similarity: 1, text }], topK: 1 }));
    }
    expect((await judged(world, "d5")).shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("is confirmed by no failure, no user and no exposure that was not credited, and starts again when it was forgotten", async () => {
    const world = await experienced();
    await praise(world, "d5", 100, { reward: true });
    await praise(world, "d5", 3, { reward: 0.4, tier: "verified" });
    await praise(world, "d5", 50, { reward: true, tier: "completed" });
    expect((await judged(world, "d5")).shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
    await praise(world, "d5", 3, { reward: true, tier: "verified" });
    expect((await judged(world, "d5")).shift).toBeGreaterThan(0.25 * SIGMA);
    await forget(world.engine, { namespace: "default", ids: ["d5"] });
    await praise(world, "d5", 100, { reward: true });
    expect((await judged(world, "d5")).shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
  });

  it("counts an episode once, when its verdict comes before another exposure, too", async () => {
    const world = await experienced();
    await praise(world, "d5", 100, { reward: true });
    const one = [{ id: "d5", similarity: 1 }];
    const { episode } = await world.engine.rank(request({ candidates: one, topK: 1 }));
    await world.engine.report(episode, { reward: true, tier: "verified" });
    for (let i = 0; i < 4; i++) await world.engine.rank(request({ candidates: one, topK: 1, episode }));
    await world.engine.end(episode);
    expect((await judged(world, "d5")).shift).toBeLessThanOrEqual(0.25 * SIGMA + 1e-12);
    expect(await replay(world.engine)).toMatchObject({ identical: true });
  });

  it("loses without limit, like any other", async () => {
    const world = await experienced();
    await praise(world, "d1", 100, { reward: false });
    const { items } = await world.engine.rank(request({ topK: 10, record: false }));
    const free = shiftOf(items, "d1");
    expect(free).toBeLessThan(0);
    expect((await judged(world, "d1")).shift).toBe(free);
  });

  it.each([
    ["discount", 0],
    ["reset", 0],
    ["keep", 3],
  ] as const)(
    "under the policy %s, late successes of its old text confirm the new one %d times",
    async (onEdit, late) => {
      const world = testEngine({ onEdit });
      const { engine } = world;
      const old: string[] = [];
      for (let run = 0; run < 3; run++) old.push(await showOne(world, { id: "d", text: "the old text" }));
      for (const episode of old) await engine.end(episode);
      await engine.end(await showOne(world, { id: "d", text: "an entirely different one" }));
      for (const episode of old) await engine.report(episode, VERIFIED);
      expect(await confirmations(world, "d")).toEqual([late]);
      const own = await showOne(world, { id: "d", text: "an entirely different one" });
      await engine.end(own, VERIFIED);
      expect(await confirmations(world, "d")).toEqual([late + 1]);
      for (const episode of old) await engine.report(episode, REFUTED);
      expect(await confirmations(world, "d")).toEqual([1]);
      await engine.report(own, REFUTED);
      expect(await confirmations(world, "d")).toEqual([0]);
      expect(await replay(engine)).toMatchObject({ identical: true });
    },
  );

  it.each([
    ["discount", 0],
    ["reset", 0],
    ["keep", 3],
  ] as const)(
    "under the policy %s, runs that were shown its old text and end after the edit confirm the new one %d times",
    async (onEdit, late) => {
      const world = testEngine({ onEdit });
      const { engine, clock } = world;
      const old: string[] = [];
      for (let run = 0; run < 3; run++) old.push(await showOne(world, { id: "d", text: "the old text" }));
      clock.now += 1_000;
      await engine.end(await showOne(world, { id: "d", text: "an entirely different one" }));
      for (const episode of old) await engine.end(episode, VERIFIED);
      expect(await confirmations(world, "d")).toEqual([late]);
      await engine.end(await showOne(world, { id: "d", text: "an entirely different one" }), VERIFIED);
      expect(await confirmations(world, "d")).toEqual([late + 1]);
      expect(await replay(engine)).toMatchObject({ identical: true });
    },
  );

  it.each(["discount", "reset"] as const)(
    "under the policy %s, a success of its old text that is taken back takes nothing from the new one",
    async (onEdit) => {
      const world = testEngine({ onEdit });
      const { engine } = world;
      const old = await showOne(world, { id: "d", text: "the old text" });
      await engine.end(old, VERIFIED);
      const both = await showOne(world, { id: "d", text: "the old text" });
      await engine.report(both, VERIFIED);
      expect(await confirmations(world, "d")).toEqual([2]);
      await showOne(world, { id: "d", text: "an entirely different one" }, both);
      await engine.end(both);
      expect(await confirmations(world, "d")).toEqual([1]);
      await engine.report(old, REFUTED);
      expect(await confirmations(world, "d")).toEqual([1]);
      await engine.report(both, REFUTED);
      expect(await confirmations(world, "d")).toEqual([0]);
      expect(await replay(engine)).toMatchObject({ identical: true });
    },
  );

  it.each([
    ["discount", true],
    ["reset", true],
    ["keep", false],
  ] as const)(
    "that was confirmed is bound, under the policy %s, from the first ranking with another text on: %s",
    async (onEdit, bound) => {
      const world = await experienced({ onEdit });
      const { engine } = world;
      for (let run = 0; run < 100; run++) {
        const episode = await showOne(world, { id: "d5", text: "as it was" });
        await engine.end(episode, run < 97 ? { reward: true, tier: "self-reported" } : VERIFIED);
      }
      const learned = async (text: string): Promise<number> => {
        const candidates = written("d5").map((one) => (one.id === "d5" ? { ...one, text } : one));
        const { items } = await engine.rank(request({ candidates, topK: 10, record: false }));
        return shiftOf(items, "d5");
      };
      const free = await learned("as it was");
      expect(free).toBeGreaterThan(0.5 * SIGMA);
      expect(await learned("as somebody has changed it")).toBeCloseTo(bound ? 0.25 * SIGMA : free, 12);
    },
  );

  it("is confirmed only where a run was credited with it, and once, whatever the run shows after its verdict", async () => {
    const world = testEngine();
    const { engine } = world;
    const without = await showOne(world, { id: "dropped" });
    await showOne(world, { id: "used" }, without);
    await engine.end(without, VERIFIED, { uncredited: [0] });
    expect(await confirmations(world, "dropped", "used")).toEqual([0, 1]);
    const judged = await showOne(world, { id: "early" });
    await engine.report(judged, VERIFIED);
    await showOne(world, { id: "late" }, judged);
    await engine.end(judged);
    expect(await confirmations(world, "early", "late")).toEqual([1, 1]);
  });
});
