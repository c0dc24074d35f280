import { describe, expect, it } from "vitest";
import { type GrowthPlan, measureGrowth } from "../src/growth/measure.js";
import { besideTable, growthPlots, reportPage } from "../src/growth/report.js";
import { reportOf } from "../src/report/benchmark.js";

describe("a measurement of growth", () => {
  const tiny: GrowthPlan = { outcomes: 80, memories: 50, points: 2, beside: 100 };

  it("counts memory and bytes on the way, and what other ways to record take", async () => {
    const shares: number[] = [];
    const results = await measureGrowth(tiny, (share) => void shares.push(share));
    expect(shares).toEqual([0.5, 1]);
    expect(results.points.map(({ outcomes }) => outcomes)).toEqual([40, 80]);
    for (const { rss, heap, disk, perSecond } of results.points) {
      expect(rss).toBeGreaterThan(heap);
      expect(Math.min(heap, disk, perSecond)).toBeGreaterThan(0);
    }
    expect(Object.keys(results.parts)).toEqual(expect.arrayContaining(["entry", "state"]));
    for (const { bytes, compacted } of results.beside) expect(compacted).toBeLessThan(bytes);
    const page = reportPage(reportOf("growth", {}, results));
    expect(page).toContain(besideTable(results));
    for (const name of Object.keys(growthPlots(results))) expect(page).toContain(`(${name})`);
  });
});
