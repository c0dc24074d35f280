import { describe, expect, it } from "vitest";
import { linePlot, niceTicks } from "../src/plot/line-plot.js";

describe("ticks", () => {
  it("are round and cover the range", () => {
    expect(niceTicks(0, 3000, 6)).toEqual([0, 500, 1000, 1500, 2000, 2500, 3000]);
    expect(niceTicks(0.41, 0.62, 5)).toEqual([0.4, 0.45, 0.5, 0.55, 0.6, 0.65]);
    expect(niceTicks(0.4, 0.4, 2)).toEqual([-0.5, 0, 0.5, 1]);
    expect(niceTicks(-0.05, 0.31, 4)).toEqual([-0.1, 0, 0.1, 0.2, 0.3, 0.4]);
  });
});

describe("a line plot", () => {
  const plot = linePlot({
    title: "Success < 1 & rising",
    xLabel: "runs",
    yLabel: "success",
    series: [
      {
        name: "plain",
        points: [
          { x: 0, y: 0.4 },
          { x: 100, y: 0.4 },
        ],
      },
      {
        name: "learned",
        points: [
          { x: 0, y: 0.4, low: 0.3, high: 0.5 },
          { x: 100, y: 0.6, low: 0.5, high: 0.7 },
        ],
      },
    ],
  });

  it("draws one line per series and a band where there are bounds", () => {
    expect(plot.match(/<polyline/g)).toHaveLength(2);
    expect(plot.match(/<polygon/g)).toHaveLength(1);
  });

  it("puts higher values higher up", () => {
    const [, learned] = [...plot.matchAll(/<polyline points="([^"]+)"/g)].map((match) => match[1] as string);
    const heights = (learned as string).split(" ").map((point) => Number(point.split(",")[1]));
    expect(heights[1]).toBeLessThan(heights[0] as number);
  });

  it("escapes text and says in words how the lines end", () => {
    expect(plot).toContain("Success &lt; 1 &amp; rising");
    expect(plot).toContain("plain ends at 0.4; learned ends at 0.6");
  });

  it("paints no background and runs nothing", () => {
    expect(plot).not.toMatch(/<rect|<script|url\(|href/);
  });

  it("keeps the labels of lines that end together apart", () => {
    const close = linePlot({
      title: "",
      xLabel: "",
      yLabel: "",
      series: ["a", "b"].map((name) => ({
        name,
        points: [
          { x: 0, y: 0 },
          { x: 1, y: 1 },
        ],
      })),
    });
    const heights = [...close.matchAll(/y="([\d.]+)" fill="#/g)].map((match) => Number(match[1]));
    expect(Math.abs((heights[0] as number) - (heights[1] as number))).toBeGreaterThanOrEqual(17);
  });
});
