import { describe, expect, it } from "vitest";
import { createEngine, memoryStore } from "../src/index.js";
import { replay } from "../src/maintenance/index.js";

describe("the loop", () => {
  it("moves a misleading memory down for the kind of request it misleads, and replays bit for bit", async () => {
    const store = memoryStore();
    const engine = createEngine({ store });
    const candidates = Array.from({ length: 10 }, (_, i) => ({ id: `d${i}`, similarity: 0.9 - i * 0.03 }));
    const ask = (vector: number[]) => engine.rank({ vector, candidates, topK: 3 });
    for (let run = 0; run < 60; run++) {
      const money = run % 2 === 0;
      const ranking = await ask(money ? [1, 0.1 * (run % 3), 0, 0] : [0, 0, 1, 0.1 * (run % 3)]);
      const misled = money && ranking.items.some(({ id }) => id === "d0");
      await engine.end(ranking.episode, { reward: misled ? 0 : 1, tier: "verified" });
    }
    const money = await ask([1, 0, 0, 0]);
    const other = await ask([0, 0, 1, 0]);
    expect(money.items.map(({ id }) => id)).not.toContain("d0");
    expect(other.items[0]?.id).toBe("d0");
    for (const { score, similarity, learned, bonus, overlap } of money.items) {
      expect(similarity + learned + bonus + overlap).toBeCloseTo(score, 12);
    }
    const replayed = await replay(engine);
    expect(replayed).toMatchObject({ identical: true, differences: [] });
    expect(replayed.states).toBeGreaterThan(10);
  });
});
