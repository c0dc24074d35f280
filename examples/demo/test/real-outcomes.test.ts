import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { realOutcomes } from "../src/real-outcomes.js";

it("shows the numbers of the page of real outcomes", async () => {
  const page = readFileSync(new URL("../../../docs/benchmarks/real.md", import.meta.url), "utf8");
  const heldOut = (row: string): string | undefined => page.match(`\\| ${row} +\\| +[0-9.]+ \\| +([0-9.]+) \\|`)?.[1];
  const { columns, similarity, qavr } = (await realOutcomes()) ?? {};
  expect(page).toContain(`behind in, of ${columns} |`);
  expect([similarity, qavr].map((success) => success?.toFixed(3))).toEqual([
    heldOut("similarity"),
    heldOut("\\*\\*oar\\*\\*"),
  ]);
});
