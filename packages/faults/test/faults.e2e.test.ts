import { describe, expect, it } from "vitest";
import { HARNESSES } from "../src/harness/harnesses.js";

const possible = HARNESSES.filter(({ alone = false, obstacle }) => !alone && obstacle?.() === undefined);

describe("promises about faults", () => {
  it.each(possible)("hold, and their deliberate faults are found: $name", async ({ run }) => {
    const results = await run("quick");
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result, `${result.tried}: ${result.seen}`).toMatchObject({ held: true });
  });
});
