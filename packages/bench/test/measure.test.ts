import { describe, expect, it } from "vitest";
import { embeddingLikeVectors } from "../src/speed/embedding-like-vectors.js";
import { measureInterleaved, ratio } from "../src/speed/measure.js";

describe("interleaved measurement", () => {
  it("runs every part in every turn, preparing and finishing outside the clock", async () => {
    const calls: string[] = [];
    const [first] = await measureInterleaved(
      [
        {
          name: "one",
          prepare: () => calls.push("prepare"),
          run: async () => calls.push("run"),
          finish: () => calls.push("finish"),
        },
        { name: "two", run: () => calls.push("two") },
      ],
      { rounds: 2, turns: 2, warmup: 1 },
    );
    expect(calls.filter((call) => call === "run")).toHaveLength(6);
    expect(calls.filter((call) => call === "two")).toHaveLength(6);
    expect(calls.slice(0, 3)).toEqual(["prepare", "run", "finish"]);
    expect(first?.calls).toBe(4);
    expect(first?.rounds).toHaveLength(2);
  });

  it("changes the order of the parts and gives each a query of its own", async () => {
    const order: string[] = [];
    const queries: Record<string, number[]> = { a: [], b: [] };
    const part = (name: string): { name: string; run: (query: number) => void } => ({
      name,
      run: (query) => {
        order.push(name);
        queries[name]?.push(query);
      },
    });
    await measureInterleaved([part("a"), part("b")], { rounds: 1, turns: 8, warmup: 0 });
    const firsts = order.filter((_, place) => place % 2 === 0);
    expect(new Set(firsts)).toEqual(new Set(["a", "b"]));
    expect(queries.a).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(queries.b).toEqual([4, 5, 6, 7, 0, 1, 2, 3]);
  });

  it("measures the time to each mark beside the whole", async () => {
    const measurements = await measureInterleaved(
      [
        { name: "plain", run: () => {} },
        { name: "marked", run: (_query, _input, mark) => mark("half") },
      ],
      { rounds: 2, turns: 3, warmup: 1 },
    );
    expect(measurements.map(({ name }) => name)).toEqual(["plain", "marked", "marked: half"]);
    expect(measurements.map(({ calls }) => calls)).toEqual([6, 6, 6]);
  });

  it("compares round by round", () => {
    const measurement = (rounds: number[]): Parameters<typeof ratio>[0] => ({
      name: "",
      median: 0,
      p95: 0,
      rounds,
      calls: 0,
    });
    expect(ratio(measurement([2, 4, 6]), measurement([1, 2, 3]))).toEqual({ mean: 2, margin: 0, n: 3 });
  });
});

describe("embedding-like vectors", () => {
  it("are unit vectors in clusters, the same for the same seed", () => {
    const vectors = embeddingLikeVectors({ count: 400, dims: 64, seed: 1 });
    const dot = (a: Float32Array, b: Float32Array): number =>
      a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
    expect(vectors).toEqual(embeddingLikeVectors({ count: 400, dims: 64, seed: 1 }));
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5);
    const cosines = vectors.slice(1).map((vector) => dot(vector, vectors[0] as Float32Array));
    // Its cluster is near, the rest is not.
    expect(Math.max(...cosines)).toBeGreaterThan(0.5);
    expect(Math.abs(cosines.reduce((sum, value) => sum + value, 0) / cosines.length)).toBeLessThan(0.15);
  });
});
