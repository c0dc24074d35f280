import { describe, expect, it } from "vitest";
import { exportState, replay } from "../src/maintenance/index.js";
import { seededRandom } from "./support/random.js";
import { ids, request, testEngine, testEpisode } from "./support/test-engine.js";

/** Thirty runs in which showing d0 ends badly. */
async function learn(engine: ReturnType<typeof testEngine>["engine"], overrides: Parameters<typeof request>[0]) {
  for (let run = 0; run < 30; run++) {
    const ranking = await engine.rank(request(overrides));
    await engine.end(ranking.episode, { reward: !ids(ranking).includes("d0"), tier: "verified" });
  }
}

describe("a request from another vector space", () => {
  it("is ranked by the scalar advantage, with one warning per space", async () => {
    const { engine, logs } = testEngine();
    await learn(engine, { space: "model-a" });
    expect(ids(await engine.rank(request({ space: "model-a" })))).not.toContain("d0");
    for (let i = 0; i < 3; i++) {
      const ranking = await engine.rank(request({ space: "model-b", vector: [0, 0, 1], topK: 10 }));
      expect(ids(ranking).indexOf("d0")).toBeGreaterThan(0);
      expect(ranking.items.find(({ id }) => id === "d0")?.learned).toBeLessThan(0);
      expect(ranking.items.every(({ score, similarity, learned }) => score === similarity + learned)).toBe(true);
    }
    const warnings = logs.filter(({ fields }) => fields.code === "SPACE_CHANGED");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({
      level: "warn",
      message: expect.stringContaining("Name another collection to learn anew."),
      fields: { namespace: "default", collection: "default", space: "model-b", learnedIn: "model-a" },
    });
  });

  it("is ranked by the scalar advantage when only its text is known", async () => {
    const { engine, logs } = testEngine();
    await learn(engine, {});
    const { vector: _, ...withoutVector } = request({ text: "why does the deploy fail?" });
    const ranking = await engine.rank(withoutVector);
    expect(ids(ranking)[0]).not.toBe("d0");
    expect(ranking.vectorSource).toBe("hashed");
    expect(logs.map(({ fields }) => fields.code)).toContain("SPACE_CHANGED");
  });

  it("is refused when only its length differs, and nothing changes", async () => {
    const { engine } = testEngine();
    await learn(engine, { space: "model-a" });
    const before = await engine.status();
    await expect(engine.rank(request({ space: "model-a", vector: [1, 0, 0] }))).rejects.toMatchObject({
      code: "INVALID_VECTOR",
      details: { length: 3, expected: 4, space: "model-a" },
    });
    expect(await engine.status()).toEqual(before);
  });

  it("is still learned from: its outcomes move the scalar advantage", async () => {
    const { engine } = testEngine();
    await learn(engine, { space: "model-a" });
    for (let run = 0; run < 40; run++) {
      const ranking = await engine.rank(request({ space: "model-b", vector: [0, 1], keepOrder: true }));
      await engine.end(ranking.episode, { reward: true, helpful: ["d0"] });
    }
    const [first] = (await engine.rank(request({ space: "model-b", vector: [0, 1] }))).items;
    expect(first?.id).toBe("d0");
    expect(first?.learned).toBeGreaterThan(0);
  });
});

describe("a collection that learned without vectors", () => {
  it("keeps what it learned when the first request with a vector comes, and after it", async () => {
    const { engine } = testEngine();
    const { vector: _, ...plain } = request();
    for (let run = 0; run < 30; run++) {
      const ranking = await engine.rank(plain);
      await engine.end(ranking.episode, { reward: !ids(ranking).includes("d0"), tier: "verified" });
    }
    expect(ids(await engine.rank(plain))).not.toContain("d0");
    const first = await engine.rank(request());
    expect(ids(first)).not.toContain("d0");
    await engine.end(first.episode, { reward: true });
    expect(ids(await engine.rank(request()))).not.toContain("d0");
  });
});

describe("two retrievals of one episode with vectors of different lengths", () => {
  it("learn along the first and by the scalar advantage from the second", async () => {
    const { engine, episode } = await testEpisode({ topK: 1 });
    await engine.rank(request({ episode, topK: 1, vector: [0, 1, 0], candidates: [{ id: "other", similarity: 1 }] }));
    await engine.end(episode, { reward: false });
    const { shared, memories } = await exportState(engine);
    expect(shared).toMatchObject({
      steps: 1,
      mean: expect.toSatisfy((mean: Float32Array) => mean.every(Number.isFinite)),
    });
    expect(memories).toMatchObject([
      { id: "d0", state: { evidence: 0.5, vector: expect.toSatisfy((vector: Float32Array) => vector.length === 4) } },
      {
        id: "other",
        state: { evidence: 0.5, vector: expect.toSatisfy((vector: Float32Array) => vector.length === 0) },
      },
    ]);
  });
});

describe("a long request vector", () => {
  it("is projected, learned from in 512 bytes and replayed", async () => {
    const { engine } = testEngine();
    const random = seededRandom(3);
    const vector = Float32Array.from(random.direction(1_536));
    await learn(engine, { vector });
    expect(ids(await engine.rank(request({ vector })))).not.toContain("d0");
    const [collection] = (await engine.status()).collections;
    expect(collection?.learner).toMatchObject({ dims: 512 });
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});

describe("a zero vector, or a text without words", () => {
  it("counts as no vector at all", async () => {
    const { engine } = testEngine();
    for (const overrides of [{ vector: [0, 0, 0] }, { vector: undefined, text: "?!" }]) {
      const { vector, ...rest } = request();
      const ranking = await engine.rank({ ...rest, ...(overrides as { vector: number[] }) });
      expect(ranking.vectorSource).toBe("none");
      expect((await engine.rank({ ...rest, ...(overrides as { vector: number[] }), record: false })).vectorSource).toBe(
        "none",
      );
      await engine.end(ranking.episode, { reward: true });
    }
    expect((await engine.status()).collections[0]?.learner).toMatchObject({ dims: 0 });
  });
});
