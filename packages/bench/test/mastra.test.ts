import { describe, expect, it } from "vitest";
import { createDesk } from "../src/mastra/desk.js";
import { measureLearning } from "../src/mastra/learning.js";
import { comparisons } from "../src/mastra/plans.js";
import { mastraResults, reportLines, reportPage } from "../src/mastra/report.js";
import { reportOf } from "../src/report/benchmark.js";

describe("a support desk", () => {
  it("has a right and a wrong note per kind of trouble, and the same tickets and luck for one seed", () => {
    const [desk, again] = [createDesk(3), createDesk(3)];
    expect(desk.notes).toHaveLength(20);
    expect(desk.notes).toEqual(again.notes);
    const outdated = createDesk(3, "own words", "wrong").notes.filter(({ age }) => age > 0);
    expect([outdated.length, outdated.every(({ text }) => text.startsWith("when"))]).toEqual([10, true]);
    const runs = Array.from({ length: 50 }, (_, run) => run);
    expect(runs.map((run) => desk.ticket(run).text)).toEqual(runs.map((run) => again.ticket(run).text));
    const solved = (prompt: string): number =>
      runs.filter((run) => desk.ticket(run).answer(prompt) !== undefined).length;
    const [right, wrong] = [/: (.+)/, /when/].map((_, place) =>
      desk.notes.flatMap(({ text }) => (text.startsWith("when") === (place === 1) ? [text] : [])).join("\n"),
    );
    expect(solved(right ?? "")).toBeGreaterThan(solved("") + 10);
    expect(solved(wrong ?? "")).toBeLessThan(solved("") - 5);
  });

  it("differs in nothing but places where tickets come from a form", () => {
    const desk = createDesk(3, "form");
    expect(
      Array.from({ length: 20 }, (_, run) => desk.ticket(run).text).every((text) => text.endsWith("what should I do?")),
    ).toBe(true);
  });
});

describe("the comparison of two memories at a desk", () => {
  it("runs real agents, and reports success, gain and cost", async () => {
    const [comparison] = comparisons(false);
    const plan = { ...(comparison as NonNullable<typeof comparison>).plan, runs: 10, block: 5 };
    const result = await measureLearning(plan);
    expect(result.blocks.map(({ runs }) => runs)).toEqual([5, 10]);
    const parts = ["Memory", "QavrMemory, ledger in SQLite"].map((name, place) => ({
      wall: {
        name,
        median: 40_000 + place * 4_000,
        p95: 50_000,
        rounds: [40_000 + place * 4_000, 41_000 + place * 4_100],
        calls: 2,
      },
      cpuMs: 30 + place * 3,
    }));
    const results = mastraResults([{ name: "Memory → QavrMemory", plan, result }], parts);
    expect(reportLines(results).at(-1)).toBe(
      "QavrMemory, ledger in SQLite: 44.0 ms, 1.100 ±0.000 × Memory; processor 1.100 ×",
    );
    expect(reportPage(reportOf("mastra", {}, results))).toMatch(
      /\| QavrMemory, ledger in SQLite \| +44\.0 \| +1\.100 ±0\.000 \| +33\.0 \| +1\.100 \|/,
    );
    expect(reportPage(reportOf("mastra", {}, results))).not.toContain("Missed");
  });
});
