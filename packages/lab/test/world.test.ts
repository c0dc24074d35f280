import { beforeAll, describe, expect, it } from "vitest";
import { DATASETS } from "../src/datasets/catalogue.js";
import { loadDataset } from "../src/datasets/load-dataset.js";
import { judge, meanJudgement } from "../src/world/judgement.js";
import type { Quality } from "../src/world/qualities.js";
import { type Split, splitDataset } from "../src/world/split.js";
import type { Truth } from "../src/world/truth.js";
import { createWorld, type World } from "../src/world/world.js";

let split: Split;
let world: World;
let truth: Truth;
beforeAll(async () => {
  split = splitDataset(await loadDataset("banking77"), DATASETS.banking77);
  world = createWorld(split, 1);
  truth = world.truthAt(0);
});

const lessonsOf = (need: number, quality: Quality): string[] =>
  world.lessons
    .filter((lesson) => lesson.need === need && truth.quality(lesson.id) === quality)
    .map((lesson) => lesson.id);

describe("a split", () => {
  it("has four lessons per need and shares no text between its parts", () => {
    expect(split.lessons).toHaveLength(308);
    const parts = [split.background, split.stream, split.heldOut, split.lessons].map((part) =>
      part.map(({ text }) => text),
    );
    expect(new Set(parts.flat()).size).toBe(13_023);
    expect(parts.map((part) => part.length)).toEqual([3255, 6856, 2604, 308]);
  });
});

describe("a world", () => {
  it("is the same for the same seed and another for another seed", () => {
    const again = createWorld(split, 1);
    expect(again.stream).toEqual(world.stream);
    expect(world.lessons.map(({ id }) => again.truthAt(0).quality(id))).toEqual(
      world.lessons.map(({ id }) => truth.quality(id)),
    );
    expect(createWorld(split, 2).stream).not.toEqual(world.stream);
  });

  it("gives every need at least one helpful lesson, and about half, a fifth and three tenths of each quality", () => {
    const counts: Record<Quality, number> = { helpful: 0, neutral: 0, misleading: 0 };
    for (const seed of [1, 2, 3, 4]) {
      const other = createWorld(split, seed);
      for (const lesson of other.lessons) counts[other.truthAt(0).quality(lesson.id)]++;
      for (let need = 0; need < split.needs; need++) expect(other.truthAt(0).helpful(need).length).toBeGreaterThan(0);
    }
    const all = 4 * 308;
    expect(counts.helpful / all).toBeCloseTo(0.52, 1);
    expect(counts.misleading / all).toBeCloseTo(0.29, 1);
  });

  it("never asks in the stream about unseen needs, and judges them apart", () => {
    const asked = new Set(world.stream.flatMap(({ needs }) => needs));
    expect(world.stream).toHaveLength(3000);
    expect(world.heldOut).toHaveLength(400);
    expect(world.heldOut.every(({ needs }) => needs.every((need) => asked.has(need)))).toBe(true);
    expect(world.heldOutUnseen.length).toBeGreaterThan(0);
    expect(world.heldOutUnseen.some(({ needs }) => needs.every((need) => asked.has(need)))).toBe(false);
  });

  it("asks again, in another order, when the stream is longer than its texts", () => {
    const long = createWorld(split, 1, { runs: 9000 });
    expect(long.stream).toHaveLength(9000);
    expect(new Set(long.stream.map(({ text }) => text)).size).toBeLessThan(6900);
  });

  it("follows the scenario", () => {
    const clean = createWorld(split, 1, { poison: 0, neutral: 0, unseen: 0 });
    expect(clean.lessons.every(({ id }) => clean.truthAt(0).quality(id) === "helpful")).toBe(true);
    expect(clean.heldOutUnseen).toHaveLength(0);
  });
});

describe("the true probability of success", () => {
  it("rises from unaided to aided with a helpful lesson, and falls for each misleading one", () => {
    const need = [...Array(77).keys()].find(
      (n) => lessonsOf(n, "helpful").length > 0 && lessonsOf(n, "misleading").length > 1,
    ) as number;
    const { unaided, aided } = world.difficulty(need);
    const [help] = lessonsOf(need, "helpful") as [string];
    const [first, second] = lessonsOf(need, "misleading") as [string, string];
    const foreign = world.lessons.find((lesson) => lesson.need !== need && truth.quality(lesson.id) === "misleading");
    expect(truth.trueProbability([need], [])).toBe(unaided);
    expect(truth.trueProbability([need], [help])).toBe(aided);
    expect(truth.trueProbability([need], [help, first])).toBeCloseTo(aided * 0.4, 12);
    expect(truth.trueProbability([need], [help, first, second])).toBeCloseTo(aided * 0.4 * 0.8, 12);
    expect(truth.trueProbability([need], [help, foreign?.id as string])).toBeCloseTo(aided * 0.97, 12);
  });

  it("is met by the outcomes of many requests", () => {
    const shown = world.stream.map((request) => truth.helpful(request.needs[0] as number).slice(0, 1));
    const expected = world.stream.reduce(
      (sum, request, i) => sum + truth.trueProbability(request.needs, shown[i] as string[]),
      0,
    );
    const successes = world.stream.filter((request, i) => world.succeeds(request, shown[i] as string[])).length;
    expect(Math.abs(successes - expected)).toBeLessThan(3 * Math.sqrt(3000 * 0.25));
  });

  it("gives a request the same luck whoever ranks: more probability never turns success into failure", () => {
    for (const request of world.stream.slice(0, 300)) {
      if (world.succeeds(request, []))
        expect(world.succeeds(request, truth.helpful(request.needs[0] as number))).toBe(true);
    }
  });
});

describe("what is reported", () => {
  it("is the truth, or its opposite at the scenario's rate", () => {
    const noisy = createWorld(split, 1, { flip: 0.3 });
    const flipped = noisy.stream.filter((request) => noisy.reported(request, true) === false).length;
    expect(flipped / noisy.stream.length).toBeCloseTo(0.3, 1);
    expect(world.stream.every((request) => world.reported(request, true))).toBe(true);
  });
});

describe("judging a list", () => {
  it("counts helpful lessons of the need by place, and sees misleading ones", () => {
    const request = world.heldOut.find(
      ({ needs: [need = -1] }) => truth.helpful(need).length === 2 && lessonsOf(need, "misleading").length > 0,
    ) as World["heldOut"][number];
    const [first, second] = truth.helpful(request.needs[0] as number) as [string, string];
    const [bad] = lessonsOf(request.needs[0] as number, "misleading") as [string];
    expect(judge(world, request, [first, second]).ndcg).toBe(1);
    expect(judge(world, request, [bad, first]).ndcg).toBeCloseTo(1 / Math.log2(3) / (1 + 1 / Math.log2(3)), 12);
    expect(judge(world, request, [bad]).misleading).toBe(1);
    expect(judge(world, request, [first]).misleading).toBe(0);
    // The sixth place is not shown.
    const fillers = world.lessons
      .filter(({ need }) => need !== request.needs[0])
      .slice(0, 5)
      .map(({ id }) => id);
    expect(judge(world, request, [...fillers, first]).ndcg).toBe(0);
  });

  it("averages", () => {
    const low = { success: 0, ndcg: 0.5, recall: 1, misleading: 1 };
    const high = { success: 1, ndcg: 0.5, recall: 0, misleading: 0 };
    expect(meanJudgement([low, high])).toEqual({
      success: 0.5,
      ndcg: 0.5,
      recall: 0.5,
      misleading: 0.5,
    });
  });
});
