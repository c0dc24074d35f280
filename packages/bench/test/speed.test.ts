import { type Learner, memoryStore, QavrError, similarity } from "@qavr/core";
import { describe, expect, it } from "vitest";
import { reportOf } from "../src/report/benchmark.js";
import { resultLines } from "../src/report/speed-tables.js";
import type { Measurement } from "../src/speed/measure.js";
import { reportPage } from "../src/speed/report.js";
import { PARTS, speedResults } from "../src/speed/targets.js";
import { buildVectorIndex, INDEX } from "../src/speed/vector-index.js";
import { FETCHED, warmEngine } from "../src/speed/warm-engine.js";
import { warmScoring } from "../src/speed/warm-scoring.js";

const small = (queries = 6): ReturnType<typeof buildVectorIndex> =>
  buildVectorIndex({ ...INDEX, count: 400, dims: 32, queries });

/** Measurements that take 1 µs, except those named. */
const measurements = (spent: Readonly<Record<string, number>>): Measurement[] =>
  Object.values(PARTS)
    .flatMap((group) => Object.values(group))
    .map((name) => {
      const median = spent[name] ?? 1;
      return { name, median, p95: median, rounds: [median, median], calls: 2 };
    });
const { scoring, memory } = PARTS;

describe("what the speed bench times", () => {
  it("is ranking by evidence: every candidate is warm and the order is learned", async () => {
    const { engine, request } = await warmEngine(small(), memoryStore());
    const { items, order, episode } = await engine.rank(request(0));
    expect(order).toBe("learned");
    expect(items.every((item) => item.evidence > 0)).toBe(true);
    expect(request(0).candidates).toHaveLength(FETCHED);
    await engine.end(episode);
    expect((await engine.status()).episodes.open).toBe(0);
  });

  it("is so with all queries of the bench, whose runs are enough for controls to begin", async () => {
    const { engine, request } = await warmEngine(small(INDEX.queries), memoryStore());
    expect((await engine.rank(request(0, { record: false }))).order).toBe("learned");
  });

  it("scores fifty candidates that all have evidence, with another request for each query", async () => {
    const score = await warmScoring(small());
    const [first, second] = [score(0), score(1)];
    expect(first.evidence).toHaveLength(FETCHED);
    expect(first.evidence.every((n) => n > 0)).toBe(true);
    expect(first.unchanged).toBe(false);
    expect(first.score).not.toEqual(second.score);
  });

  it("refuses to time candidates that stayed cold", async () => {
    const failure = await warmEngine(small(), memoryStore(), similarity() as Learner).catch((error: unknown) => error);
    expect(QavrError.isInstance(failure, "INVALID_STATE")).toBe(true);
  });
});

describe("the report", () => {
  it("says first what misses its target", () => {
    const measured = measurements({ [scoring.score]: 0.1, [memory.outcome]: 130 });
    const report = reportOf("speed", {}, { measurements: measured, results: speedResults(measured) });
    const page = reportPage(report);
    expect(page).toContain("**Missed in this run: outcome over 5 memories, CPU before the disk.**");
    const firstRow = page.slice(page.indexOf("|---|---|---|")).split("\n")[1];
    expect(firstRow).toContain("outcome over 5 memories, CPU before the disk | 130.0 µs | ≤ 100 µs");
    const lines = resultLines(report.results);
    expect(lines.find((line) => line.startsWith("scoring"))).toContain("within 0.15");
    expect(lines.find((line) => line.startsWith("outcome over 5"))).toContain("ABOVE 100");
  });

  it("says so when everything holds", () => {
    const fast = measurements({ [scoring.score]: 0.1, [memory.outcome]: 40 });
    expect(reportPage(reportOf("speed", {}, { measurements: fast, results: speedResults(fast) }))).toContain(
      "Every target is met in this run.",
    );
  });
});
