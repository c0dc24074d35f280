import { describe, expect, it } from "vitest";
import type { OarMemory } from "../src/learners/index.js";
import { exportState, replay } from "../src/maintenance/index.js";
import { seededRandom } from "./support/random.js";
import { testEngine } from "./support/test-engine.js";

describe("an episode that has taught", () => {
  const cosine = (a: Float32Array, b: Float32Array): number => {
    const product = (x: Float32Array, y: Float32Array): number =>
      x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
    return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
  };

  it("keeps the direction of its lesson in place of the request, and learns along it again when a better outcome comes", async () => {
    const { engine, store } = testEngine();
    const vector = seededRandom(5).direction(512);
    const only = await engine.rank({
      candidates: [{ id: "only", similarity: 1 }],
      topK: 1,
      vector,
      collection: "docs",
    });
    await engine.end(only.episode, { reward: 1, tier: "user" });
    const readRecord = async (): Promise<Uint8Array> =>
      (await store.readStates("default", "episode", [only.episode]))[0] as Uint8Array;
    expect((await readRecord()).length).toBeLessThan(2 * vector.length);
    const before = await exportState(engine, { collection: "docs" });
    const [first] = before.memories as unknown as [{ state: OarMemory }];
    // Other requests move the mean that is subtracted from a request.
    for (let run = 0; run < 20; run++) {
      const other = seededRandom(100 + run).direction(512);
      const { episode } = await engine.rank({
        candidates: [{ id: "other", similarity: 1 }],
        topK: 1,
        vector: other,
        collection: "docs",
      });
      await engine.end(episode, { reward: 1, tier: "user" });
    }
    await engine.report(only.episode, { reward: 0, tier: "verified" });
    const after = await exportState(engine, { collection: "docs" });
    const second = after.memories.find(({ id }) => id === "only") as { state: OarMemory };
    expect(cosine(second.state.vector, first.state.vector)).toBeCloseTo(-1, 6);
    expect((await readRecord()).length).toBeLessThan(2 * vector.length);
    expect(await replay(engine)).toMatchObject({ identical: true });
  });
});
