import { describe, expect, it } from "vitest";
import { request, testEngine } from "./support/test-engine.js";

describe("the aliases of an episode", () => {
  it("are at most ten thousand, refused before any work, and the episode goes on", async () => {
    const { engine } = testEngine();
    const names = Array.from({ length: 200_000 }, (_, i) => `alias ${i}`);
    expect(() => engine.open({ aliases: names })).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
    const { episode } = await engine.rank(request({ aliases: names.slice(0, 9_990) }));
    expect(() => engine.alias(episode, names.slice(9_990, 10_001))).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED" }),
    );
    engine.alias(episode, names.slice(9_990, 10_000));
    await engine.end(episode, { reward: true });
    expect(await engine.report("alias 9999", { reward: false, tier: "verified" })).toMatchObject({ episode });
  });
});
