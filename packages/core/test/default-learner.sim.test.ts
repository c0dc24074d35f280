import { describe, expect, it } from "vitest";
import type { Learner } from "../src/index.js";
import { beta } from "../src/learners/index.js";
import { seededRandom } from "./support/random.js";
import { testEngine } from "./support/test-engine.js";
import { World, type WorldOptions } from "./support/world.js";

/** Of three, a single world decides. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Mean gain in held-out success over similarity, over the seeds. */
async function gain(runs: number, options: Omit<WorldOptions, "seed"> = {}, learner?: Learner): Promise<number> {
  let sum = 0;
  for (const seed of SEEDS) {
    const world = new World({ seed, ...options });
    const { engine } = testEngine(learner ? { learner } : {});
    await world.live(engine, runs);
    const { learned, similarity } = await world.evaluate(engine);
    sum += learned - similarity;
  }
  return sum / SEEDS.length;
}

describe("the default learner in a world where similarity cannot see which memory helps", () => {
  it("gains success on requests that it never saw, and more with experience", async () => {
    const early = await gain(300);
    const late = await gain(1_500);
    expect(early).toBeGreaterThan(0.05);
    expect(late).toBeGreaterThan(0.1);
    expect(late).toBeGreaterThan(early);
  });

  it("gains more when runs say which memories helped or misled", async () => {
    expect(await gain(600, { votes: true })).toBeGreaterThan((await gain(600)) + 0.05);
  });
});

describe("the default learner where all requests are of one kind", () => {
  it("is at most 0.03 behind counting, for which such a world is made", async () => {
    const narrow = { narrow: true };
    expect(await gain(600, narrow)).toBeGreaterThan((await gain(600, narrow, beta() as Learner)) - 0.03);
  });

  it("keeps the order that it found, however long nothing new is to be learned", async () => {
    const { engine } = testEngine();
    const candidates = ["first", "second", "third"].map((id, i) => ({ id, similarity: 0.9 - 0.03 * i }));
    const random = seededRandom(4);
    let shown = "";
    for (let run = 0; run < 6_000; run++) {
      const { episode, items } = await engine.rank({ candidates, topK: 1 });
      shown = items[0]?.id as string;
      await engine.end(episode, { reward: random.next() < (shown === "second" ? 0.8 : 0.2), tier: "verified" });
    }
    expect(shown).toBe("second");
  });
});

describe("the default learner in a world with nothing to learn", () => {
  it("loses at most 0.04 when outcomes are coin tosses", async () => {
    expect(await gain(1_000, { outcomes: "coin" })).toBeGreaterThan(-0.04);
  });

  it("loses at most 0.03 when every memory helps", async () => {
    expect(await gain(1_000, { helpful: 1, harmful: 0 })).toBeGreaterThan(-0.03);
  });
});
