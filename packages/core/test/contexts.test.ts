import { describe, expect, it } from "vitest";
import type { Engine, RankRequest } from "../src/index.js";
import { seededRandom } from "./support/random.js";
import { testEngine } from "./support/test-engine.js";

const REQUEST = seededRandom(3).direction(64);
const FOUND = [
  { id: "rewrite it", similarity: 0.9 },
  { id: "add a log line", similarity: 0.88 },
  { id: "unrelated", similarity: 0.5 },
];

type Asked = Pick<RankRequest, "text" | "vector">;

const rank = (engine: Engine, context: string | undefined, record = true, asked: Asked = { vector: REQUEST }) =>
  engine.rank({ ...(context ? { context } : {}), ...asked, candidates: FOUND, topK: FOUND.length, record });

/** Votes that the first memory helps in one context and misleads in the other, and the second the other way round. */
async function teach(engine: Engine, runs: number, asked?: Asked): Promise<void> {
  for (let run = 0; run < runs; run++) {
    const [context, helpful, harmful] =
      run % 2 === 0 ? ["writing", "rewrite it", "add a log line"] : ["debugging", "add a log line", "rewrite it"];
    const { episode } = await rank(engine, context, true, asked);
    await engine.end(episode, { reward: 1, helpful: [helpful as string], harmful: [harmful as string] });
  }
}

describe("contexts", () => {
  it("tell apart what helps in one task and misleads in another, for the same request", async () => {
    const { engine } = testEngine();
    await teach(engine, 60);
    expect((await rank(engine, "writing", false)).items[0]?.id).toBe("rewrite it");
    expect((await rank(engine, "debugging", false)).items[0]?.id).toBe("add a log line");
  });

  it("fall back on what others learned while they have nothing of their own", async () => {
    const { engine } = testEngine();
    for (let run = 0; run < 30; run++) {
      const { episode } = await rank(engine, "writing");
      await engine.end(episode, { reward: 0, harmful: ["rewrite it"], helpful: ["add a log line"] });
    }
    for (const context of ["never met", undefined]) {
      expect((await rank(engine, context, false)).items[0]?.id).toBe("add a log line");
    }
  });

  it.each(["", "?!"])("tell requests apart that have no words: %j", async (text) => {
    const { engine } = testEngine();
    await teach(engine, 60, { text });
    expect((await rank(engine, "writing", false, { text })).items[0]?.id).toBe("rewrite it");
    expect((await rank(engine, "debugging", false, { text })).items[0]?.id).toBe("add a log line");
  });
});
