import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { attackPage } from "../src/attacks/attack-page.js";
import type { CheckResult } from "../src/harness/check.js";
import { type Report, reportPage } from "../src/harness/report-page.js";

const read = (file: string): string =>
  readFileSync(new URL(`../../../docs/benchmarks/${file}`, import.meta.url), "utf8");

describe("the pages of the faults", () => {
  it("say what follows from the stored results (else: pnpm faults --render, pnpm faults attacks --render)", () => {
    expect(read("reliability.md")).toBe(reportPage(JSON.parse(read("reliability.json"))));
    expect(read("attacks.md")).toBe(attackPage(JSON.parse(read("attacks.json"))));
  });

  it("put what was broken first, whole, and of what held the times and sizes, one line for all stores", () => {
    const result = (what: string, seen: string, held: boolean): CheckResult => ({
      ...{ promise: "R1", what, tried: "10 kills", seen, held },
    });
    const report: Report = {
      command: "pnpm faults",
      machine: { cpu: "a processor", cores: 2, memoryGiB: 8, load: 0 },
      versions: {},
      reports: [
        {
          ...{ harness: "kills", measured: "2026-01-01T00:00Z", seconds: 60, load: 0 },
          results: [
            result("held", "0 lost, 0 counted twice; verify clean", true),
            result("waited", "0 lost; longest wait 30 ms", true),
            result("broke", "0 lost, 3 counted twice", false),
            result("restored; times ÷ quiet ones (SQLite)", "1.3 × (p99 15 ms, 1.2 ×); 0 lost", true),
            result("restored; times ÷ quiet ones (PostgreSQL)", "0 lost, at most 4.4 MiB", true),
          ],
        },
      ],
    };
    expect(reportPage(report).match(/^- .*$/gm)).toEqual([
      "- R1 broke: 10 kills → **0 lost, 3 counted twice**",
      "- R1 held: 10 kills",
      "- R1 waited: 10 kills → longest wait 30 ms",
      "- R1 restored: 10 kills (SQLite); 10 kills (PostgreSQL) → at most 4.4 MiB",
    ]);
  });
});
