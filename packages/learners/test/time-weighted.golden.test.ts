import { exportState } from "@qavr/core/maintenance";
import { describe, expect, it } from "vitest";
import { loneMemory } from "../../core/test/support/lone-memory.js";
import { DAY, MINUTE, START } from "../../core/test/support/test-engine.js";
import { recency, timeWeighted } from "../src/time-weighted.js";

const HOUR = 60 * MINUTE;

describe("time-weighted@1", () => {
  it.each([
    [0, 1],
    [1, 0.99],
    [24, 0.785678],
    [72, 0.484991],
    [168, 0.184805],
  ])("leaves (1 − 0.01)^hours after %i hours: %f", (hours, expected) => {
    expect(recency(0.01, START, START + hours * HOUR)).toBeCloseTo(expected, 6);
  });

  it("ignores time at a decay of 0, forgets at once at 1, and decays nothing for a clock that ran backwards", () => {
    expect(recency(0, START, START + DAY)).toBe(1);
    expect(recency(1, START, START + DAY)).toBe(0);
    expect(recency(1, START, START)).toBe(1);
    expect(recency(0.01, START, START - DAY)).toBe(1);
  });

  it("adds recency to similarity: since the last showing, or since the collection's first exposure", async () => {
    const { run, rank, clock } = loneMemory(timeWeighted());
    await run(["old"], { reward: 1 });
    clock.now += 24 * HOUR;
    await run(["late"], { reward: 0 });
    clock.now += 2 * HOUR;
    const ranked = await rank({ never: 0.9, old: 0.8, late: 0.7 });
    expect(ranked.map(([id]) => id)).toEqual(["late", "never", "old"]);
    expect(ranked.map(([, score]) => score)).toEqual([
      expect.closeTo(0.7 + 0.99 ** 2, 12),
      expect.closeTo(0.9 + 0.99 ** 26, 12),
      expect.closeTo(0.8 + 0.99 ** 26, 12),
    ]);
  });

  it("counts from the last of several showings, also where an earlier one is recorded later", async () => {
    const { engine, clock, run, state } = loneMemory(timeWeighted());
    const early = await engine.rank({ candidates: [{ id: "a", similarity: 1 }], topK: 1 });
    clock.now += HOUR / 2;
    await run(["a"], { reward: 1 });
    await engine.end(early.episode, { reward: 1 });
    expect(await state("a")).toEqual({ lastAccessed: START + HOUR / 2, accesses: 2 });
    expect((await exportState(engine)).shared).toEqual({ since: START });
  });
});
