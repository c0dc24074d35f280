import { importState } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import { memrl, standardised } from "../src/memrl.js";

describe("memrl@1", () => {
  it("moves Q by 0.3 of the way to ±1: 0.3, 0.51, 0.657, then 0.1599", async () => {
    const { run, state } = loneMemory(memrl());
    for (const [reward, expected] of [
      [1, 0.3],
      [1, 0.51],
      [1, 0.657],
      [0, 0.1599],
    ] as const) {
      await run(["a"], { reward });
      expect((await state("a")).value).toBeCloseTo(expected, 12);
    }
  });

  it("reads a partial reward between failure and success, and a light outcome as a small step", async () => {
    const { run, state } = loneMemory(memrl());
    await run(["half"], { reward: 0.5 });
    await run(["quarter"], { reward: 0.25 });
    await run(["light"], { reward: 1, weight: 0.5 });
    expect((await state("half")).value).toBe(0);
    expect((await state("quarter")).value).toBeCloseTo(-0.15, 12);
    expect((await state("light")).value).toBeCloseTo(0.15, 12);
    const published = loneMemory(memrl({ initialQ: 0.5, failure: 0 }));
    await published.run(["a"], { reward: 1 });
    await published.run(["a"], { reward: 0 });
    expect((await published.state("a")).value).toBeCloseTo(0.65 * 0.7, 12);
  });

  it("standardises by mean and population deviation, and says nothing where nothing spreads", () => {
    // Mean 5, deviation 2.
    expect([...standardised(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9))]).toEqual([-1.5, -0.5, -0.5, -0.5, 0, 0, 1, 2]);
    expect([...standardised(Float64Array.of(0.1, 0.1, 0.1))]).toEqual([0, 0, 0]);
    expect([...standardised(new Float64Array(0))]).toEqual([]);
  });

  it("adds half of each standardised similarity and value over the first phase", async () => {
    const { run, rank } = loneMemory(memrl());
    await run(["a"], { reward: 0 });
    await run(["b"], { reward: 1 });
    // Similarities 0.9, 0.7, 0.5: ẑ = √1.5, 0, −√1.5. Values −0.3, 0.3, 0: ẑ = −√1.5, √1.5, 0.
    const ranked = await rank({ a: 0.9, b: 0.7, c: 0.5 });
    expect(ranked.map(([id]) => id)).toEqual(["b", "a", "c"]);
    expect(ranked.map(([, score]) => score)).toEqual([
      expect.closeTo(Math.sqrt(1.5) / 2, 9),
      expect.closeTo(0, 9),
      expect.closeTo(-Math.sqrt(1.5) / 2, 9),
    ]);
  });

  it("makes 0.50 against 0.51 as far apart as two opposite values: the known weakness of standardising", async () => {
    const { engine, rank } = loneMemory(memrl());
    const state = { evidence: 1, updates: 1 };
    await importState(engine, {
      memories: [
        { id: "a", state: { ...state, value: 0.5 } },
        { id: "b", state: { ...state, value: 0.51 } },
      ],
    });
    const ranked = await rank({ a: 0.6, b: 0.6 });
    expect(ranked.map(([id, score]) => [id, Number(score.toFixed(9))])).toEqual([
      ["b", 0.5],
      ["a", -0.5],
    ]);
  });

  it("bounds a standardised value at 3", async () => {
    const { run, rank } = loneMemory(memrl());
    await run(["star"], { reward: 1 });
    // One of 20 stands out by √19 = 4.36 deviations.
    const candidates = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i === 19 ? "star" : `m${i}`, 0.5]));
    expect((await rank(candidates, 10))[0]).toEqual(["star", expect.closeTo(1.5, 12), expect.closeTo(0.3, 12)]);
  });

  it("lets only the first 2·topK candidates compete, and among them those above the threshold", async () => {
    const names = async (options: Parameters<typeof memrl>[0], topK: number): Promise<string> => {
      const { run, rank } = loneMemory(memrl(options));
      for (let i = 0; i < 5; i++) await run(["e"], { reward: 1 });
      return (await rank({ a: 0.9, b: 0.85, c: 0.8, d: 0.75, e: 0.7, f: 0.1 }, topK)).map(([id]) => id).join("");
    };
    expect(await names({}, 2)).toBe("ab");
    expect(await names({}, 3)).toBe("eab");
    expect(await names({ candidates: 3 }, 2)).toBe("ea");
    expect(await names({ threshold: 0.7 }, 3)).toBe("abc");
    // Without f the similarities spread less: ẑ(a) = √2 and ẑ(Q of e) = 2 make 0.457 for a and 0.293 for e.
    expect(await names({ threshold: 0.69 }, 3)).toBe("aeb");
    expect(memrl().fetchK?.(5)).toBe(10);
    const { run, rank } = loneMemory(memrl({ threshold: 0.7 }));
    for (const id of ["a", "e"]) await run([id], { reward: 1 });
    // The score of the others is their similarity.
    expect((await rank({ a: 0.9, b: 0.8, e: 0.7 }))[2]).toEqual(["e", 0.7, expect.closeTo(0.3, 12)]);
  });
});
