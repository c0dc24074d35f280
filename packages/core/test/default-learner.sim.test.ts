import { describe, expect, it } from "vitest";
import { seededRandom } from "./support/random.js";
import { testEngine } from "./support/test-engine.js";
import { World, type WorldOptions } from "./support/world.js";

/** Each of these worlds gains at least .08 in 300 runs. */
const SEEDS = [1, 2, 3, 4];
/** Worlds of coin tosses differ more from each other: the mean of four may be twice that of eight. */
const COIN_SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
/** The mean of eight worlds with wrong outcomes is off by .02. */
const FLIPPED_SEEDS = Array.from({ length: 24 }, (_, i) => i + 1);

/** Mean gain in held-out success over similarity, over the seeds, after each of the numbers of runs. */
async function gains(
  runs: readonly number[],
  options: Omit<WorldOptions, "seed"> = {},
  seeds: readonly number[] = SEEDS,
): Promise<number[]> {
  const sums = runs.map(() => 0);
  for (const seed of seeds) {
    const world = new World({ seed, ...options });
    const { engine } = testEngine();
    for (const [i, count] of runs.entries()) {
      await world.live(engine, count - (runs[i - 1] ?? 0));
      const { learned, similarity } = await world.evaluate(engine);
      sums[i] = (sums[i] as number) + learned - similarity;
    }
  }
  return sums.map((sum) => sum / seeds.length);
}

describe("the default learner in a world where similarity cannot see which memory helps", () => {
  it("gains success on requests that it never saw, more with experience, and more when runs say which memories helped or misled", async () => {
    const [early = 0, middle = 0, late = 0] = await gains([300, 600, 1_500]);
    expect(early).toBeGreaterThan(0.05);
    expect(late).toBeGreaterThan(0.1);
    expect(late).toBeGreaterThan(early);
    const [voted = 0] = await gains([600], { votes: true });
    expect(voted).toBeGreaterThan(middle + 0.03);
  });
});

describe("the default learner with scores of a judge", () => {
  it("gains from scores of .6 and .8 nearly as much as from failures and successes", async () => {
    const [bits = 0] = await gains([600]);
    const [narrow = 0] = await gains([600], { scores: [0.6, 0.8] });
    expect(narrow).toBeGreaterThan(0.7 * bits);
  });
});

describe("the default learner where three outcomes of ten are wrong", () => {
  it("gains more than a third of what true outcomes give, .209", async () => {
    const [gain] = await gains([1_500], { flipped: 0.3 }, FLIPPED_SEEDS);
    expect(gain).toBeGreaterThan(0.0697);
  });
});

describe("the default learner where all requests are of one kind", () => {
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

describe("the default learner over ten notes, of which the nearest one misleads", () => {
  it("keeps it away, although most of the others were blamed together with it", async () => {
    const candidates = Array.from({ length: 10 }, (_, i) => ({ id: `d${i}`, similarity: 0.9 - i / 50 }));
    let again = 0;
    for (const seed of SEEDS) {
      const { engine } = testEngine({ prefix: `${seed}` });
      const random = seededRandom(seed);
      for (let run = 0; run < 1_000; run++) {
        const angle = (run % 6) * 1.1;
        const vector = [Math.cos(angle), Math.sin(angle), 0.2, 0];
        const { episode, items, heldOut } = await engine.rank({ candidates, topK: 3, vector });
        const misleads = items.some(({ id }) => id === "d0");
        if (misleads && !heldOut && run >= 500) again += 1;
        await engine.end(episode, { reward: random.next() < (misleads ? 0.15 : 0.9) });
      }
    }
    expect(again / (500 * SEEDS.length)).toBeLessThan(0.06);
  });
});

describe("the default learner over forty tools of equal similarity", () => {
  it("finds the right one within 20 failures, and keeps it", async () => {
    const tools = Array.from({ length: 40 }, (_, i) => ({ id: `tool ${i}`, similarity: 0.5 }));
    for (const right of [3, 20, 39]) {
      const { engine } = testEngine();
      const failures: number[] = [];
      for (let run = 0; run < 60; run++) {
        const { episode, items } = await engine.rank({ candidates: tools, topK: 3, text: `deploy service ${run}` });
        const reward = items.some(({ index }) => index === right);
        if (!reward) failures.push(run);
        await engine.end(episode, { reward, tier: "verified" });
      }
      expect(failures.length).toBeLessThanOrEqual(20);
      expect(failures.at(-1)).toBeLessThan(40);
    }
  });
});

describe("the default learner over twenty tools of equal similarity, each for one kind of request", () => {
  it("finds most of them, although the first ones that succeed look better than the rest", async () => {
    let late = 0;
    for (const seed of SEEDS) {
      const random = seededRandom(seed);
      const { engine } = testEngine({ prefix: `${seed}` });
      const directions = Array.from({ length: 20 }, () => Array.from({ length: 64 }, () => random.next() - 0.5));
      const candidates = directions.map((_, i) => ({ id: `tool ${i}`, similarity: 0.5 }));
      for (let run = 0; run < 1_000; run++) {
        const kind = Math.floor(random.next() * directions.length);
        const vector = (directions[kind] as number[]).map((value) => value + 0.5 * (random.next() - 0.5));
        const { episode, items } = await engine.rank({ candidates, topK: 1, vector });
        const reward = items[0]?.index === kind;
        if (reward && run >= 800) late += 1;
        await engine.end(episode, { reward, tier: "verified" });
      }
    }
    expect(late / (200 * SEEDS.length)).toBeGreaterThan(0.6);
  });
});

describe("the default learner where all that the host shows first fails", () => {
  /** The latest first success of all kinds of request, in runs of its kind, and the success of the second half. */
  async function search(similarities: readonly number[], right: number, topK: number, kinds = 1) {
    const { engine } = testEngine();
    const runs = 100 * kinds;
    const firsts = new Array<number>(kinds).fill(Number.POSITIVE_INFINITY);
    let late = 0;
    for (let run = 0; run < runs; run++) {
      const kind = run % kinds;
      const vector = Array.from({ length: 16 }, (_, i) => Math.sin((kind + 1) * (i + 1)));
      const candidates = similarities.map((similarity, i) => ({ id: `${kind} ${i}`, similarity }));
      const { episode, items } = await engine.rank({ candidates, topK, vector });
      const reward = items.some(({ index }) => index === right);
      if (reward) firsts[kind] = Math.min(firsts[kind] as number, Math.floor(run / kinds));
      if (reward && run >= runs / 2) late += 1;
      await engine.end(episode, { reward, tier: "verified" });
    }
    return { first: Math.max(...firsts), late: late / (runs / 2) };
  }

  it.each([0.002, 0.01])("finds the right tool of 40 where similarities fall by %f", async (step) => {
    const similarities = Array.from({ length: 40 }, (_, i) => 0.8 - step * i);
    for (const right of [10, 20, 39]) {
      const { first, late } = await search(similarities, right, 3);
      expect(first).toBeLessThanOrEqual(30);
      expect(late).toBeGreaterThan(0.95);
    }
  });

  it("finds one memory of fifteen that has nothing in common with the request", async () => {
    const similarities = [0.47, 0.38, 0.35, 0.3, 0.25, 0.2, 0.2, 0.15, 0.1, 0.1, 0, 0, 0, 0, 0];
    const { first, late } = await search(similarities, 14, 1);
    expect(first).toBeLessThanOrEqual(20);
    expect(late).toBeGreaterThan(0.95);
  });

  it("finds it for each of eight kinds of request", async () => {
    const { first, late } = await search([0.7, 0.5, 0.45, 0.43, 0.4, 0.38, 0.35, 0.3], 7, 1, 8);
    expect(first).toBeLessThanOrEqual(40);
    expect(late).toBeGreaterThan(0.95);
  });
});

describe("the default learner over 25 memories in one order, where a fifth of the requests succeed whatever is shown", () => {
  it.each([
    { right: 15, topK: 1 },
    { right: 20, topK: 3 },
  ])("finds the one that helps at place $right with $topK shown, and keeps it", async ({ right, topK }) => {
    const candidates = Array.from({ length: 25 }, (_, i) => ({ id: `${i}`, similarity: 0.8 - i / 100 }));
    const firsts: number[] = [];
    let late = 0;
    for (const seed of COIN_SEEDS) {
      const { engine } = testEngine({ prefix: `${seed}` });
      const random = seededRandom(seed);
      let first = Number.POSITIVE_INFINITY;
      for (let run = 0; run < 400; run++) {
        const vector = [1, ...[0, 1, 2].map(() => 0.3 * (random.next() - 0.5))];
        const { episode, items } = await engine.rank({ candidates, topK, vector });
        const helps = items.some(({ index }) => index === right);
        if (helps) first = Math.min(first, run);
        if (helps && run >= 200) late += 1;
        await engine.end(episode, { reward: random.next() < (helps ? 0.95 : 0.2), tier: "verified" });
      }
      firsts.push(first);
    }
    expect(Math.max(...firsts)).toBeLessThanOrEqual(110);
    expect(late / (200 * COIN_SEEDS.length)).toBeGreaterThan(0.9);
  });
});

describe("the default learner over six memories, one shown, for four kinds of request", () => {
  const memories = Array.from({ length: 6 }, (_, i) => i);
  const kinds = [0, 1, 2, 3];

  /**
   * Share of the way from the mean memory to the best one that the last 500 of 3,000 runs lack, when all rates of success are drawn
   * again in the middle.
   */
  async function lost(seed: number, similarityOf: (memory: number, noise: number) => number): Promise<number> {
    const random = seededRandom(seed);
    const { engine } = testEngine({ prefix: `${seed}` });
    const directions = kinds.map(() => Array.from({ length: 64 }, () => (random.next() - 0.5) / 2.3));
    let [best, mean, got] = [0, 0, 0];
    for (const half of [0, 1]) {
      const rates = kinds.map(() => memories.map(() => 0.15 + 0.75 * random.next()));
      for (let run = 0; run < 1_500; run++) {
        const kind = Math.floor(random.next() * kinds.length);
        const chances = rates[kind] as number[];
        const vector = (directions[kind] as number[]).map((value) => value + 0.2 * (random.next() - 0.5));
        const candidates = memories
          .map((i) => ({ id: `${i}`, similarity: similarityOf(i, random.next()) }))
          .sort((a, b) => b.similarity - a.similarity);
        const { episode, items } = await engine.rank({ candidates, topK: 1, vector });
        const chance = chances[Number(items[0]?.id)] as number;
        if (half === 1 && run >= 1_000) {
          best += Math.max(...chances);
          mean += chances.reduce((sum, value) => sum + value / chances.length, 0);
          got += chance;
        }
        await engine.end(episode, { reward: random.next() < chance });
      }
    }
    return (best - got) / (best - mean);
  }

  it.each([
    { host: "in one order", similarityOf: (i: number) => 0.67 - 0.068 * i },
    { host: "of equal similarity", similarityOf: () => 0.5 },
    { host: "in an order by chance", similarityOf: (_: number, noise: number) => noise },
  ])("finds what helps anew after all of them changed, $host", async ({ similarityOf }) => {
    let sum = 0;
    for (const seed of COIN_SEEDS) sum += await lost(seed, similarityOf);
    expect(sum / COIN_SEEDS.length).toBeLessThan(0.4);
  });
});

describe("the default learner where each search finds five dissimilar memories that it never found before", () => {
  it.each([0.85, 0.5])("leaves them where one similar memory helps with probability %f", async (best) => {
    const chances = [best / 3, best, best / 2];
    let fresh = 0;
    for (const seed of COIN_SEEDS) {
      const random = seededRandom(seed);
      const { engine } = testEngine({ prefix: `${seed}` });
      for (let run = 0; run < 2_000; run++) {
        const vector = Array.from({ length: 16 }, (_, i) => (i === 0 ? 1 : 0.1 * (random.next() - 0.5)));
        const similar = chances.map((_, i) => ({ id: `${i}`, similarity: 0.65 + 0.1 * random.next() }));
        const others = [0, 1, 2, 3, 4].map((i) => ({ id: `${run}-${i}`, similarity: 0.4 + 0.1 * random.next() }));
        const { episode, items } = await engine.rank({ candidates: [...similar, ...others], topK: 1, vector });
        const chance = chances[items[0]?.index as number];
        if (run >= 1_500 && chance === undefined) fresh += 1;
        await engine.end(episode, { reward: random.next() < (chance ?? best / 10) });
      }
    }
    expect(fresh / (500 * COIN_SEEDS.length)).toBeLessThan(0.2);
  });
});

describe("the default learner over twelve kinds of request with six memories each, or as many as are shown", () => {
  interface Chances {
    readonly chance: number;
    readonly helps: number;
    readonly misleads: number;
    readonly topK: number;
  }

  /** Share of the way from similarity to the best list that the last 500 of 2,000 runs go. */
  async function gained(seed: number, { chance: usual, helps, misleads, topK }: Chances): Promise<number> {
    const random = seededRandom(seed);
    const { engine } = testEngine({ prefix: `${seed}` });
    const noise = () => random.next() + random.next() + random.next() - 1.5;
    const directions = Array.from({ length: 12 }, () => Array.from({ length: 64 }, () => noise() / 4));
    const memories = directions.flatMap((_, kind) =>
      Array.from({ length: Math.max(6, topK) }, (_, i) => {
        const drawn = random.next();
        const effect = drawn < 0.3 ? helps : drawn < 0.6 ? -misleads : 0;
        return { id: `${kind}-${i}`, kind, effect, affinity: 0.1 * noise() };
      }),
    );
    const sums = { similarity: 0, learned: 0, best: 0 };
    for (let run = 0; run < 2_000; run++) {
      const kind = Math.floor(random.next() * 12);
      const vector = (directions[kind] as number[]).map((value) => value + 0.05 * noise());
      const candidates = memories
        .map((memory) => ({
          ...memory,
          similarity: (memory.kind === kind ? 0.7 : 0.25) + memory.affinity + 0.1 * noise(),
        }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, 20);
      const effects = candidates.map((memory) => (memory.kind === kind ? memory.effect : 0));
      const chanceOf = (shown: readonly number[]) => usual + Math.max(0, ...shown) + Math.min(0, ...shown);
      const { episode, items } = await engine.rank({ candidates, topK, vector });
      const chance = chanceOf(items.map(({ index }) => effects[index] as number));
      if (run >= 1_500) {
        sums.similarity += chanceOf(effects.slice(0, topK));
        sums.learned += chance;
        sums.best += chanceOf([Math.max(...effects)]);
      }
      await engine.end(episode, { reward: random.next() < chance });
    }
    return (sums.learned - sums.similarity) / (sums.best - sums.similarity);
  }

  it.each([
    ["four of ten requests succeed without help", { chance: 0.4, helps: 0.35, misleads: 0.3, topK: 2 }, 0.85],
    ["success is rare", { chance: 0.04, helps: 0.25, misleads: 0.02, topK: 2 }, 0.7],
  ])("goes most of the way to the best lists where %s", async (_, world, share) => {
    let sum = 0;
    for (const seed of COIN_SEEDS) sum += await gained(seed, world);
    expect(sum / COIN_SEEDS.length).toBeGreaterThan(share);
  });

  it("learns in each collection where eight are shown, although predictions fail at first", async () => {
    const shares: number[] = [];
    for (let seed = 101; seed < 113; seed++) {
      shares.push(await gained(seed, { chance: 0.4, helps: 0.35, misleads: 0.3, topK: 8 }));
    }
    expect(Math.min(...shares)).toBeGreaterThan(0.15);
  });
});

describe("the default learner in a world with nothing to learn", () => {
  it("loses at most 0.04 when outcomes are coin tosses", async () => {
    const [loss] = await gains([1_000], { flipped: 0.5 }, COIN_SEEDS);
    expect(loss).toBeGreaterThan(-0.04);
  });

  it("loses at most 0.03 when every memory helps", async () => {
    const [loss] = await gains([1_000], { helpful: 1, harmful: 0 });
    expect(loss).toBeGreaterThan(-0.03);
  });
});
