import { describe, expect, it } from "vitest";
import { heatMap } from "../src/plot/heat-map.js";

const MAP = heatMap({
  title: "Gain & loss",
  subtitle: "a <test>",
  rows: ["first", "second"],
  groups: [{ name: "group", columns: ["good", "bad"] }],
  value: (row, column) => (row === "first" ? (column === "good" ? 0.3 : -0.3) : column === "good" ? 0 : undefined),
  format: (value) => value.toFixed(1),
  full: 0.2,
});

describe("a heat map", () => {
  it("has a cell with its number for every value and a dash where nobody measured", () => {
    expect(MAP.match(/<rect /g)).toHaveLength(3);
    for (const text of [">0.3<", ">-0.3<", ">0.0<", ">–<", ">good<", ">second<", ">group<"]) {
      expect(MAP).toContain(text);
    }
  });

  it("tells gain from loss by colour, nothing from both, and is full at its limit", () => {
    const fills = [...MAP.matchAll(/<rect [^>]*fill="(#[0-9a-f]{6})"/g)].map(([, fill]) => fill);
    expect(new Set(fills).size).toBe(3);
    expect(fills).toContain("#0f6eb4");
    expect(fills).toContain("#d55e00");
  });

  it("escapes what it is given", () => {
    expect(MAP).toContain("Gain &amp; loss");
    expect(MAP).toContain("a &lt;test&gt;");
  });
});
