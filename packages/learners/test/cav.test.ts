import type { Lesson } from "@qavr/core/learner";
import { dequantise } from "@qavr/core/learner";
import { describe, expect, it } from "vitest";
import { tableOf } from "../../core/test/support/table-of.js";
import { lessonsFor, type VectorLearner, type World } from "../../core/test/support/vector-lessons.js";
import type { AdvantageVector } from "../src/advantage-vector.js";
import type { CavMemory, CavShared } from "../src/cav.js";
import { cav } from "../src/cav.js";

const learner = cav();
const { emptyWorld, teach } = lessonsFor(learner as VectorLearner);

describe("cav", () => {
  it("keeps each collection's gate a regression on its own predictions when a run drew on two that disagree", () => {
    const [good, bad] = [emptyWorld(), emptyWorld()];
    const vector = dequantise(Int8Array.of(127, 0, 0, 0, 0, 0, 0, 0));
    const lesson = (vote: 1 | -1, weight: number, world: World): Lesson<CavShared, CavMemory>["exposures"][number] => ({
      shared: world.shared,
      vector,
      context: "default",
      share: 0.5,
      voted: true,
      shown: [{ id: "m", memory: world.memories[0] as CavMemory, similarity: 1, weight, vote, used: undefined }],
    });
    for (let i = 0; i < 2_000; i++) {
      learner.learn({
        exposures: [lesson(1, 1, good), lesson(-1, 0.3, bad)],
        reward: i % 2,
        weight: 1,
        at: 0,
        first: true,
      });
      for (const { shared } of [good, bad]) expect(shared.gateDenominator).toBeGreaterThan(0);
    }
  });

  it("scores a memory whose vector is of another length by its scalar advantage", () => {
    const memory = (vector: number[]): CavMemory => ({ evidence: 3, advantage: -2, vector: Float32Array.from(vector) });
    const request = Float32Array.of(1, 0, 0, 0);
    const { utility } = learner.score({
      shared: undefined,
      ...tableOf(learner, [memory([1, 0, 0]), memory([]), memory([35, 0, 0, 0]), undefined]),
      similarities: Float64Array.of(0.4, 0.3, 0.2, 0.1),
      vector: request,
      context: "default",
      topK: 1,
      explores: true,
      now: 0,
    });
    expect([...utility]).toEqual([-0.25, -0.25, 1, 0]);
  });

  it("learns from votes alone", () => {
    const world = emptyWorld();
    const vector = dequantise(Int8Array.of(127, 0, 0, 0, 0, 0, 0, 0));
    teach(world, { request: vector, shown: [[0, 1]], reward: null, weight: 1, votes: [1, -1, 0, 0, 0, 0] });
    const [helped, misled] = world.memories.map((memory) => learner.describe(memory as AdvantageVector, 0).utility) as [
      number,
      number,
    ];
    expect(helped).toBeGreaterThan(0);
    expect(misled).toBeLessThan(0);
  });

  it("halves what an edited memory is worth, and forgets it when nothing is kept", () => {
    const world = emptyWorld();
    const vector = dequantise(Int8Array.of(0, 127, 0, 0, 0, 0, 0, 0));
    teach(world, { request: vector, shown: [[0]], reward: 1, weight: 1, votes: [0, 0, 0, 0, 0, 0] });
    const memory = world.memories[0] as CavMemory;
    const before = structuredClone(memory);
    learner.discount(memory, 0.5);
    expect(memory.evidence).toBe(before.evidence / 2);
    expect(memory.advantage).toBe(before.advantage / 2);
    expect([...memory.vector]).toEqual([...before.vector].map((value) => value / 2));
  });
});

describe("cav's running spread", () => {
  const spreadAfter = (...lists: { similarities: number[]; shown: number }[]): CavShared => {
    const shared = learner.shared.empty();
    for (const { similarities, shown } of lists) {
      learner.observe({
        shared,
        context: "default",
        similarities: Float64Array.from(similarities),
        shown,
        memories: () => [],
        at: 0,
      });
    }
    return shared;
  };

  it("averages the spreads of candidate lists", () => {
    const shared = spreadAfter({ similarities: [0, 0.2], shown: 1 }, { similarities: [0, 0.6], shown: 1 });
    expect(shared.spread).toBeCloseTo(0.2, 12);
    expect(shared.spreadCount).toBe(2);
  });

  it("ignores lists that do not spread and lists fetched no deeper than shown", () => {
    const shared = spreadAfter(
      { similarities: [0, 0.2], shown: 1 },
      { similarities: [0.1, 0.1, 0.1], shown: 1 },
      { similarities: [0, 9], shown: 2 },
      { similarities: [], shown: 0 },
    );
    expect(shared.spread).toBeCloseTo(0.1, 12);
    expect(shared.spreadCount).toBe(1);
  });
});
