import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import { confidence, reinforcement, shareOfBest } from "../src/reinforcement.js";

describe("reinforcement@1", () => {
  it.each([
    [0, 0.7],
    [1, 0.73],
    [2, 0.757],
    [3, 0.7813],
    [5, 0.822853],
    [10, 0.895396],
    [20, 0.963527],
    [30, 0.987283],
  ])("L1: has a confidence of its %ith reading as published: %f", (reads, expected) => {
    expect(confidence(0.7, 0.1, reads)).toBeCloseTo(expected, 6);
  });

  it("L2: agrees with the iteration c ← c + 0.1 · (1 − c) to 10⁻⁹, grows and never passes 1", () => {
    let c = 0.7;
    for (let reads = 0; reads <= 2_000; reads++) {
      expect(Math.abs(confidence(0.7, 0.1, reads) - c)).toBeLessThan(1e-9);
      expect(confidence(0.7, 0.1, reads)).toBeLessThanOrEqual(1);
      expect(confidence(1, 0.1, reads)).toBe(1);
      c = Math.min(1, c + 0.1 * (1 - c));
    }
    const first = Array.from({ length: 50 }, (_, reads) => reads).find((reads) => confidence(0.7, 0.1, reads) >= 0.99);
    expect(first).toBe(33);
  });

  it("L4: counts every exposure that showed a memory once, whatever came of it", async () => {
    const { run, state, rank } = loneMemory(reinforcement());
    await run(["a", "b"], { reward: 1 });
    await run(["a"], { reward: 0 });
    await run(["a"], { reward: null });
    expect(await state("a")).toEqual({ reinforcements: 3 });
    expect(await state("b")).toEqual({ reinforcements: 1 });
    expect((await rank({ a: 0.5 }))[0]?.[2]).toBeCloseTo(0.7813, 12);
  });

  it("L5: counts ten readings at once as ten, and five make 0.822853", async () => {
    const { engine, state, rank } = loneMemory(reinforcement());
    const read = async (id: string): Promise<void> => {
      const { episode } = await engine.rank({ candidates: [{ id, similarity: 0.5 }], topK: 1 });
      await engine.end(episode);
    };
    await Promise.all(Array.from({ length: 10 }, () => read("ten")));
    expect(await state("ten")).toEqual({ reinforcements: 10 });
    for (let i = 0; i < 5; i++) await read("five");
    expect((await rank({ five: 0.5 }))[0]?.[2]).toBeCloseTo(0.822853, 6);
  });

  it("L6, L9: blends 0.7 of similarity over the best with 0.3 of confidence", async () => {
    const { run, rank } = loneMemory(reinforcement());
    for (let i = 0; i < 10; i++) await run(["read"], { reward: 0 });
    const [first, second] = await rank({ fresh: 0.8, read: 0.76 });
    expect([first?.[0], second?.[0]]).toEqual(["read", "fresh"]);
    expect(first?.[1]).toBeCloseTo(0.7 * 0.95 + 0.3 * 0.895396, 6);
    expect(second?.[1]).toBeCloseTo(0.7 + 0.3 * 0.7, 12);
  });

  it("L9: divides by the best similarity, survives one of 0 and maps negative ones by min–max", () => {
    expect([...shareOfBest(Float64Array.of(4, 2, 0))]).toEqual([1, 0.5, 0]);
    expect([...shareOfBest(Float64Array.of(0, 0))]).toEqual([0, 0]);
    expect([...shareOfBest(Float64Array.of(1, 0, -1))]).toEqual([1, 0.5, 0]);
  });

  it("L9: is the host's order when confidence weighs nothing", async () => {
    const { run, engine } = loneMemory(reinforcement({ confidenceWeight: 0 }));
    await run(["b"], { reward: 1 });
    const candidates = ["a", "b"].map((id, i) => ({ id, similarity: 0.1 + i }));
    const ranking = await engine.rank({ candidates, topK: 2, record: false });
    expect(ranking).toMatchObject({ order: "host", gate: 0, items: [{ id: "a", learned: 0 }, { id: "b" }] });
  });
});
